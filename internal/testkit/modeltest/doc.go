// Package modeltest is a fake OpenAI-compatible server with faults to order.
// Tests and benchmarks run providers and whole agents against it.
//
// A [Server] listens on 127.0.0.1 and answers each request for a chat
// completion with the next [Step] it was given; a step with When waits for a
// request that holds that text, so that several sessions can be served in one
// script. All requests are recorded.
//
//	server := modeltest.New(t,
//		modeltest.Step{Calls: []modeltest.Call{{Name: "read", Arguments: `{"path":"a"}`}}},
//		modeltest.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}},
//		modeltest.Step{Text: "done", Pieces: 4},
//	)
//	run(server.URL)
//	server.Requests()[0].Body
//
// The steps can be read from a JSON Lines file too ([Read]); their fields are
// the members of Step in lower case with underscores.
//
// A [Strict] server has one of the [Rules] by which real servers want reasoning back, and
// refuses every request that breaks it.
//
// It knows nothing of model or its implementations. It imports internal/pause,
// transcript for [Stored], and the standard library. A Server runs the goroutines of one HTTP server; Close ends them.
//
// # Requirements
//
// R163 (test support), R165 (no network).
package modeltest
