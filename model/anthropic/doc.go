// Package anthropic is a model.Provider over Anthropic's Messages API, for Anthropic itself
// and for other servers that speak it.
//
// It owns the request body, the reading of the events and what a model of that API can do.
// It speaks over net/http. The transport, the errors and the limits on waiting are those of
// model/wire.
//
//	p, err := anthropic.New(anthropic.Options{APIKey: key})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	for chunk, err := range p.Stream(ctx, request) { … }
//
// The life of a step: params.go and thinking.go choose the parameters, message.go writes the
// messages and body.go the request, client.go sends it, event.go reads an event, step.go
// turns it into model.Chunks, and retry.go makes a request again that was refused for
// something it can do without.
//
// What a model thought goes back as it came: a block of thinking is kept whole, with its
// signature, in model.Chunk.Replay. The origin of a message names server and model, because
// a signature holds for the model that made it and no other.
//
// It imports model, model/wire, transcript and the standard library. It starts no goroutine
// of its own; idle connections of its transport hold some until Close.
//
// # Requirements
//
// R28 (images), R66 (sampling fields), R137 (usage), R138 (stable prefix),
// R140 (the error buckets), R159 (prompt content).
package anthropic
