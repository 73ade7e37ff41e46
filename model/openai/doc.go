// Package openai is a model.Provider over the Chat Completions API: OpenAI
// itself and the servers that speak its dialects (Ollama, llama.cpp, vLLM, LM
// Studio, OpenRouter and others).
//
// It owns the request body, the event stream and the meaning of errors. The
// official client carries requests and credentials; bodies and answers pass it
// as bytes, because a step must cost only its new messages and a delta only a
// few microseconds, and because servers differ from the official types.
//
// It has no part in retries over steps, tools, sessions and the environment:
// what counts is in Options. It sends the key to the host of the base URL only.
//
//	p, err := openai.New(openai.Options{BaseURL: "http://localhost:11434/v1"})
//	if err != nil {
//		return err
//	}
//	defer p.Close()
//	for chunk, err := range p.Stream(ctx, request) { … }
//
// The life of a step: params.go and body.go write the request, client.go sends
// it, model/wire cuts the answer into events, chunk.go reads one, step.go and
// calls.go turn it into model.Chunks, and model/wire says what went wrong.
//
// Reasoning goes back in the field in which it came: reasoning.go has the fields, tags.go
// and details.go read two of them, replay.go writes them, and refusal.go learns from a
// server's errors what it demands and what it refuses. How much a model thinks is level.go's.
//
// It imports model, model/wire, transcript, the official client and the standard library.
// It starts no goroutine of its own; idle connections of its transport hold
// some until Close.
//
// # Requirements
//
// R28 (images), R66 (sampling fields), R137 (usage), R138 (stable prefix),
// R140 (the error buckets), R159 (prompt content).
package openai
