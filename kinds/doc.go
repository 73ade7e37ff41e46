// Package kinds holds the closed set of ACP tool kinds, the locked tool ids,
// and the neutral card that a tool call shows in an editor.
//
// It owns the words for what a call looks like: its kind, title, locations and
// content ([Card]), the place that paths in titles are relative to ([Place]), and the
// escaping that keeps a title from pretending to be another ([Line], [Visible]). What the
// card of a tool says is part of the tool's definition (tools.Spec); [Neutral] is the card
// of a call whose tool is not known. The package refuses to know the protocol's wire form,
// the tools and the file system.
//
//	in := kinds.Place{Cwd: "/work"}
//	kinds.Card{Kind: kinds.Read, Title: "Read " + in.Rel(in.Abs("a.go"))}
//	kinds.Neutral("mcp__github__search_code").Title // "github · search code"
//
// It imports only the standard library and starts no goroutine.
//
// # Requirements
//
// R3 (locked ids), R151 (title, kind, locations), section C (kinds).
package kinds
