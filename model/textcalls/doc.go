// Package textcalls takes tool calls that a model writes as text for calls.
//
// It owns the forms in which model families write calls (Hermes and Qwen, Qwen3-Coder,
// GLM, Mistral, DeepSeek and others that have "invoke" elements), where in an answer such
// a text counts, and what is said where it does not. It has no part in tools, servers
// and the wire: it stands between a [model.Provider] and the loop.
//
//	provider = textcalls.New(provider, textcalls.Auto)
//
// A call counts at the end of an answer only, and never within a code fence, a quotation
// or quotation marks: what a model repeats of a file or a page stands there. It is judged
// like any other call. An answer that was cut goes on in the fence that it was cut in, and
// what stands within an argument that has no end is not a call.
//
// It starts no goroutines.
//
// # Requirements
//
// R21, R154.
package textcalls
