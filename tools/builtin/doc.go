// Package builtin holds the tools that the agent ships: what the model reads in
// <id>.md, what the tool says of itself and does in <id>.go, its tests in
// <id>_test.go. A tool whose card or steps are long has files <id>_card.go and
// the like.
//
// It owns the behaviour and the literal texts of each tool. It refuses to know
// the disk, processes and the network: a tool reaches them only through the
// [tools.Runtime] it is handed, so checks, delegation to the editor and the
// test harness hold for all of them. Search, edit matching and command texts
// are the business of internal/search, internal/textedit and internal/shell.
// A ripgrep that the user configured only narrows a search (ripgrep.go,
// answer.go, coarse.go, narrowed.go).
//
//	registry, err := tools.NewRegistry(builtin.All()...)
//	entry, args, err := registry.Resolve("edit_file", args)
//	result, err := entry.Run(ctx, runtime, args)
//
// Adding a tool: write the three files and add one line to [Options.All].
//
// It imports tools, kinds, capability, transcript and packages of internal that
// work on texts, never os, os/exec or net/http.
//
// # Requirements
//
// R3, R15-R17, R23-R62, R72 (the tools that are subagents), R74, R76, R79-R84, R87, R95-R105, R108.
package builtin
