// Package worktest makes workspaces for tests: a fresh directory with a sibling
// outside of it, and the files, links and comparisons that tests of files and
// commands need.
//
// It owns that set-up and decides nothing about it: a test changes the options
// before the workspace is made. [Main] lets a test's binary be the helper that
// starts commands.
//
// It imports workspace and its parts, tools, sandbox, internal/launch, internal/netns and
// internal/testkit; only tests import it. It starts no goroutines.
//
//	g := worktest.New(t, func(o *workspace.Options) { o.Commands.AtOnce = 1 })
//	worktest.Put(t, g.In("main.go"), "package main\n")
//	exit, err := g.Start(t).Processes().Run(t.Context(), command, output)
//
// # Requirements
//
// None of its own: it serves the tests of workspace/run and workspace/undo.
package worktest
