// Package anthropictest is a fake of Anthropic's Messages API that refuses what the API
// refuses. Tests run providers and whole agents against it.
//
// A [Server] checks each request by the rules of rules.go, each with its source, and answers
// 400 on any break. Else it streams the next [Step]: thinking with signatures that it checks
// when they come back, text, tool calls in pieces of JSON. All requests and all streams are
// recorded, and so are the breaks.
//
//	server := anthropictest.New(t,
//		anthropictest.Step{Thinking: "Look first.", Calls: []anthropictest.Call{{Name: "read", Input: `{"path":"a"}`}}},
//		anthropictest.Step{Text: "done"},
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
package anthropictest
