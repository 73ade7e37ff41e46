// Package acp serves the Agent Client Protocol on a pair of streams: it takes
// the connection, lets the client negotiate a version, and owns the
// connection's lifetime down to the last process.
//
//	err := acp.Serve(ctx, os.Stdin, stdout, acp.Options{Core: core, Version: "0.1.0"})
//
// One version is spoken so far, acp/v1; a client that asks for another is
// answered 1 and decides for itself. It imports
// acp/rpc and acp/v1 and starts no goroutine of its own.
//
// # Requirements
//
// R145, R146 (negotiation), R149 (end of input).
package acp
