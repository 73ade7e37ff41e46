// Command gen writes the `*_gen.go` files of acp/schema from the official JSON schema of
// the Agent Client Protocol.
//
//	go run ./gen -schema DIR
//
// DIR holds schema.json and schema.unstable.json; it defaults to what
// [acp-agent/acp/schema/schematest.Dir] finds. The npm package around DIR must have the
// version that acp/schema pins.
//
// The program owns the way from a schema to Go source: which definition becomes a
// struct, an enumeration or a union (build.go), how each reads in Go (render.go), and
// our own choices where a rule cannot make them (choices.go, docs.go). To take up a
// newly stable part of the protocol, raise the pinned version and run it; it names each
// definition that no file of choices.go expects. To take up an unstable part, add it to
// the list in choices.go. It imports the standard library and internal/testkit/schematest, and
// starts no goroutines.
//
// # Requirements
//
// R145, R147 (messages and their fields).
package main
