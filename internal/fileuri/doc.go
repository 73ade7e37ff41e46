// Package fileuri turns absolute paths into file URIs and back, as language servers and
// MCP servers are told of files. It knows the escapes, and the drives and shares of
// Windows; it touches no disk.
//
//	uri := fileuri.Of("/work/a b.go") // file:///work/a%20b.go
//	path, ok := fileuri.Path(uri)
//
// It imports the standard library alone and starts no goroutine.
//
// # Requirements
//
// R98 (lsp), R88 (what MCP servers are told of the session's directories).
package fileuri
