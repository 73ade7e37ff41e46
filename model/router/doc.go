// Package router is a model.Provider over several model servers. Their models are named
// "provider/model"; a name without a known provider means the default server's model.
//
//	r := router.New([]router.Server{
//		{Name: "deepseek", Title: "DeepSeek", Open: open},
//		{Name: "ollama", Title: "Ollama", Open: openLocal},
//	}, "deepseek")
//	for chunk, err := range r.Stream(ctx, &model.Request{Model: "ollama/qwen3-coder"}) { … }
//
// A server is opened when its first model is used or its list is wanted. Lists are asked
// for concurrently; what a server does not answer is missing from the list, and nothing
// else is.
//
// It imports model and the standard library. [Router.Models] starts a goroutine for each
// server that it asks and waits for them.
//
// # Requirements
//
// R149 (the choice of a model), R165 (servers).
package router
