// Package responsestest is a fake of OpenAI's Responses API that refuses what the API
// refuses. Tests run providers and whole agents against it.
//
// A [Server] checks each request by the rules of rules.go and items.go, each with its source,
// and answers 400 on any break. Else it streams the next [Step]: reasoning with encrypted
// content that it checks when it comes back, text, calls with their arguments in pieces. It
// can be a server that takes less than OpenAI does, or that has one of two APIs. All requests
// and all streams are recorded, and so are the breaks.
//
//	server := responsestest.New(t,
//		responsestest.Step{Thoughts: []string{"Look first."}, Calls: []responsestest.Call{{Name: "read", Arguments: `{"path":"a"}`}}},
//		responsestest.Step{Text: "done"},
//	)
//	run(server.URL)
//	server.Broken() // nothing
//
// It knows nothing of model or its implementations, so that it judges by the API and not by
// our reading of it. It imports the standard library. A Server runs the goroutines of one
// HTTP server; it ends with the test.
//
// # Requirements
//
// R163 (test support), R165 (no network).
package responsestest
