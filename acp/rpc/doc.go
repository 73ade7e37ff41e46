// Package rpc speaks newline-delimited JSON-RPC 2.0 with one peer.
//
// It owns everything between a pair of byte streams and decoded requests: line
// framing and its limits, the check that a line is a JSON-RPC message, raw ids
// echoed byte for byte, one ordered output, cancellation of requests in both
// directions, error codes, and the orderly end of a connection. Below it,
// sourcegraph/jsonrpc2 dispatches incoming messages and matches answers with
// calls, through this package's own object stream: the library's stock stream
// closes the connection on a malformed line and corrupts negative ids.
//
// It holds nothing of ACP: no method name except `$/cancel_request`, no session,
// no type of the schema. It imports the standard library, golang.org/x/sys and
// sourcegraph/jsonrpc2, and nothing of this module.
//
// Goroutines: see [Conn]. [Conn.Run] starts all of them and waits for them, except for that
// of [Stderr.Relay], which [Stderr.Restore] ends.
//
// A server in short:
//
//	stderr, err := rpc.TakeStderr()
//	if err != nil {
//		return err
//	}
//	stderr.Relay(log)
//	defer stderr.Restore()
//	out, err := rpc.TakeStdout()
//	if err != nil {
//		return err
//	}
//	conn := rpc.New(os.Stdin, out, handler, rpc.Options{Logger: log})
//	return conn.Run(ctx)
//
// Incoming messages reach the [Handler] one by one, in wire order. A request is
// answered in two steps: Request does, on the read loop, what must happen in
// wire order, and returns a [Body] that does the work on its own goroutine. So a
// cancellation written right after a prompt always finds the prompt.
//
// # Requirements
//
// R145 (one JSON-RPC message a line, nothing else on stdout), R147 (error codes,
// `$/cancel_request`), R149 (end of input).
package rpc
