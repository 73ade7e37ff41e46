package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"acp-agent/tools"
)

// Scenario is one call with the world before and after it (R162). Its JSON form
// is that of the tool harness.
type Scenario struct {
	Name string `json:"name,omitempty"`
	// Tool is any name of the tool.
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
	// Files are texts by path, relative to Workspace or absolute.
	Files       map[string]string `json:"files,omitempty"`
	Processes   []Script          `json:"processesSetup,omitempty"`
	Environment Environment       `json:"environment,omitzero"`
	// ExpectedFiles are compared after the call; what is not named may be as
	// it likes.
	ExpectedFiles []ExpectedFile `json:"expectedFiles,omitempty"`
	// ExpectedCalls are the commands that ran, in order; nil is not compared,
	// an empty list means none.
	ExpectedCalls []ExpectedCall `json:"expectedProcessCalls,omitzero"`
	// ExpectedError is the text of the tool error; empty means success.
	ExpectedError string `json:"expectedError,omitempty"`
}

// Environment is what of the session differs from the default.
type Environment struct {
	// Editor are unsaved texts by path.
	Editor map[string]string `json:"editor,omitempty"`
	// Limits replace the canonical ones.
	Limits *tools.Limits `json:"limits,omitempty"`
}

// ExpectedFile is a file as it must be after the call.
type ExpectedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Absent means that the file must not exist.
	Absent bool `json:"absent,omitempty"`
}

// ExpectedCall is a command that must have run.
type ExpectedCall struct {
	Cmd string `json:"cmd"`
	// Cwd is compared unless it is empty.
	Cwd string `json:"cwd,omitempty"`
}

// Outcome is how a Scenario went.
type Outcome struct {
	// Passed means that there are no Errors.
	Passed bool
	// Errors say what differs, one finding each.
	Errors []string
	// Result is what the tool returned; nil when it failed with Err.
	Result *tools.Result
	Err    error
}

// Run runs the scenario with whichever of the tools answers to its name.
func (s Scenario) Run(ctx context.Context, list ...tools.Tool) Outcome {
	args, err := json.Marshal(s.Args)
	if err != nil {
		return Outcome{Errors: []string{"arguments: " + err.Error()}, Err: err}
	}
	registry, err := tools.NewRegistry(list...)
	if err != nil {
		return Outcome{Errors: []string{err.Error()}, Err: err}
	}
	rt := New(Options{
		Files: s.Files, Editor: s.Environment.Editor, Processes: s.Processes, Limits: s.Environment.Limits,
	})
	entry, _, err := registry.Resolve(s.Tool, args, nil)
	if err != nil {
		return Outcome{Errors: []string{err.Error()}, Err: err}
	}
	var o Outcome
	o.Result, o.Err = rt.Run(ctx, entry.Tool, s.Tool, string(args))
	o.Errors = slices.Concat(s.compareError(o.Err), s.compareFiles(rt), s.compareCalls(rt))
	o.Passed = len(o.Errors) == 0
	return o
}

func (s Scenario) compareError(err error) []string {
	actual := ""
	if err != nil {
		actual = err.Error()
	}
	if actual == s.ExpectedError {
		return nil
	}
	return []string{fmt.Sprintf("Error mismatch:\nExpected: %s\nActual: %s", s.ExpectedError, actual)}
}

func (s Scenario) compareFiles(rt *Runtime) []string {
	var found []string
	for _, want := range s.ExpectedFiles {
		content, exists := rt.Mem.Get(want.Path)
		switch {
		case want.Absent && exists:
			found = append(found, fmt.Sprintf("File %s should not exist:\nActual: %s", want.Path, content))
		case want.Absent:
		case !exists:
			found = append(found, fmt.Sprintf("File %s is missing:\nExpected: %s", want.Path, want.Content))
		case content != want.Content:
			found = append(found, fmt.Sprintf("File %s content mismatch:\nExpected: %s\nActual: %s", want.Path, want.Content, content))
		}
	}
	return found
}

func (s Scenario) compareCalls(rt *Runtime) []string {
	if s.ExpectedCalls == nil {
		return nil
	}
	calls := rt.Procs.Calls()
	var found []string
	for i, want := range s.ExpectedCalls {
		if i >= len(calls) {
			found = append(found, fmt.Sprintf("Process call %d is missing:\nExpected: %s", i+1, want.Cmd))
			continue
		}
		if got := calls[i]; got.Text != want.Cmd || want.Cwd != "" && got.Dir != want.Cwd {
			found = append(found, fmt.Sprintf("Process call %d mismatch:\nExpected: %s (in %s)\nActual: %s (in %s)",
				i+1, want.Cmd, want.Cwd, got.Text, got.Dir))
		}
	}
	for _, extra := range calls[min(len(s.ExpectedCalls), len(calls)):] {
		found = append(found, fmt.Sprintf("Unexpected process call:\nActual: %s (in %s)", extra.Text, extra.Dir))
	}
	return found
}
