// Package gguf writes language models with random weights in the format that llama.cpp
// reads, so that the agent can be tried against a real server without a download of
// gigabytes. What such a model says means nothing; that it arrives, in which form, and
// what the server refuses is real.
//
// It owns the format ([File]), a vocabulary that can write every byte and whose words are
// learnt from a text ([Learn]), and a small model of the architecture "llama" with a chat
// template for tools and thoughts ([Model]). It refuses to know how a server is started.
// It imports the standard library and starts no goroutines.
//
//	m := gguf.Model{Vocabulary: gguf.Learn(text, 1000), Window: 32768, Seed: 1}
//	err := m.File().Write(w)
//
// # Requirements
//
// None of its own: the tests of make llama stand on it.
package gguf
