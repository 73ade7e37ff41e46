// Package wire is what providers of model servers over HTTP have in common: the transport
// and its limits, events of a streamed answer, errors and what they mean, and the pieces of
// a request that every API words alike.
//
// It has no API of its own. A provider writes the request and reads the events; a
// [Server] sends it under a [Watchdog] and says what went wrong.
//
//	server := &wire.Server{Base: base, Key: key}
//	err := server.Do(ctx, &wire.Exchange{
//		Send: post,
//		Read: func(answer *wire.Watchdog) error {
//			events := wire.NewEvents(answer, answer.SignOfLife)
//			…
//		},
//	})
//
// It imports internal/jsonscan, model, transcript and the standard library. It starts no goroutine of its
// own; idle connections of a transport hold some until [CloseIdle].
//
// # Requirements
//
// R28 (images), R140 (the error buckets), R159 (prompt content).
package wire
