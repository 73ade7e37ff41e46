// Package model is what the loop needs of a language model, and no more.
//
// A [Provider] streams one assistant step for a [Request]: text, reasoning,
// tool-call argument deltas, usage, and why it ended. It has no part in
// retries across steps, tools or sessions. Implementations stand below it:
// model/openai (OpenAI-compatible servers), model/responses (OpenAI's other API, over the
// former) and model/anthropic, with model/wire below them, and model/script (a deterministic
// model that reads its answers from a file).
//
//	for chunk, err := range provider.Stream(ctx, request) {
//		if err != nil {
//			return err // a *model.Error
//		}
//		fmt.Print(chunk.Text)
//	}
//
// A message that the agent itself put into the conversation is sent as [Note] has it.
//
// It imports transcript, internal/jsonscan and the standard library and starts no goroutine.
//
// # Requirements
//
// R68 (synthetic messages), R137 (usage), R140 (the error buckets), R165 (providers
// without a network).
package model
