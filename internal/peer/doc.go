// Package peer speaks JSON-RPC with a child process over its standard streams: with language
// servers, whose messages have headers, and with tool providers, whose messages are lines.
//
// It owns both framings and their bounds, the matching of answers with calls, cancellation,
// answers to the process's own requests, and the end of the connection. A process that does
// not read is ended [writeGrace] after the call that it keeps waiting; one that asks without
// reading the answers is ended, too. What cannot be a message is passed over between lines,
// and ends a connection with headers.
//
// It refuses to know any method, how a process is started, and when it is started again; see
// package supervise for that.
//
//	p := peer.New(pipe, peer.Options{Framing: peer.Lines})
//	defer p.Close()
//	result, err := p.Call(ctx, "tools/list", struct{}{})
//	var answered *peer.Error
//	if errors.As(err, &answered) {
//		return answered // the process answered with an error, and can be asked again
//	}
//
// The protocol with the editor has a peer of its own, acp/rpc, for it orders and batches.
//
// Allowed imports: the standard library and internal/textcut. The goroutines are in the comment
// of [Peer].
//
// # Requirements
//
// It supports R94 (tool providers) and R98 (language servers).
package peer
