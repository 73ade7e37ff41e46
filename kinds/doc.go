// Package kinds holds the closed set of ACP tool kinds, the locked tool ids,
// and the neutral card that a tool call shows in an editor.
//
// It owns the one table from tool id to kind and title (requirements, section
// C): tool definitions, the ACP adapter, permission cards and documentation
// all read it, so "bash" looks the same wherever it is shown. It refuses to
// know the protocol's wire form, the tools' behaviour and the file system: a
// card is computed from the call's arguments alone.
//
//	card := kinds.Describe("read", []byte(`{"path":"/work/a.go"}`), kinds.Place{Cwd: "/work"})
//	card.Kind  // kinds.Read
//	card.Title // "Read a.go"
//
// It imports only the standard library and starts no goroutine.
//
// # Requirements
//
// R3 (locked ids), R151 (title, kind, locations), section C (kinds).
package kinds
