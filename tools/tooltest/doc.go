// Package tooltest runs tools without a disk, a process or a user.
//
// It owns the in-memory [FS], the scripted [Processes] and the [Runtime] made
// of them; [Runtime.Run], which takes a call through alias, preprocessing and
// schema as the pipeline does; the [Scenario] of the tool harness, with the
// files and commands it expects; [Mock], a tool that only answers; and [Check],
// the rules that every tool must keep.
//
//	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.go": "package a\n"}})
//	result, err := rt.Run(ctx, builtin.Read(), "Read", `{"path":"a.go"}`)
//
// Relative names lie in [Workspace]. It refuses to know permissions, sandboxes
// and ACP: those are tested where they live. It imports tools, kinds, transcript,
// permissions (for the names of secret files) and internal/search, and starts
// no goroutine.
//
// # Requirements
//
// R162, R163, R164 (structural checks).
package tooltest
