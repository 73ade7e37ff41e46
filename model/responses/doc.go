// Package responses is a model.Provider over OpenAI's Responses API, for OpenAI itself and
// for other servers that speak it, and the choice between that API and Chat Completions.
//
// It owns the request body, the reading of the events and what goes back of an answer. The
// connection, and what is known of the server's models, are those of a model/openai.Provider
// for the same server; the transport, the errors and the limits on waiting are those of
// model/wire.
//
//	chat, err := openai.New(openai.Options{APIKey: key})
//	if err != nil {
//		return err
//	}
//	p, err := responses.New(chat)                              // that API alone
//	either, err := responses.NewChoice(chat, []string{"gpt-5"}) // it, or Chat Completions
//
// A [Choice] asks in the Responses API for models of which it is known that they do best
// there, and for those of which the server says so.
//
// The life of a step: params.go chooses the parameters, items.go writes the messages as
// items, replay.go what of them is the server's own, body.go the request; event.go reads an
// event, step.go and opened.go turn it into model.Chunks, and refusal.go makes a request
// again that was refused for something it can do without.
//
// Nothing is stored on the server. What a model thought comes encrypted and goes back as it
// came, in model.Chunk.Replay, with the ids of what followed it. The origin of a message
// names server and model.
//
// It imports model, model/openai, model/wire, transcript and the standard library, and
// starts no goroutine.
//
// # Requirements
//
// R28 (images), R66 (sampling fields), R137 (usage), R138 (stable prefix),
// R140 (the error buckets), R159 (prompt content).
package responses
