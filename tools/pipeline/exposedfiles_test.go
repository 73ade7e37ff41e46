package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// hidingStage is a stage with a sandbox that is only pretended, from which files named .env
// are hidden.
func hidingStage(t *testing.T, kind sandbox.Kind) *stage {
	t.Helper()
	return newStage(t, func(o *pipeline.Options) {
		work, err := workspace.New(workspace.Options{
			SessionID:   "ses_names",
			Directories: workspace.Directories{Cwd: o.Workspace.Session().Cwd, State: filepath.Join(t.TempDir(), "state"), Home: t.TempDir()},
			Commands:    run.Options{Sandbox: pretended(kind)},
			Protection:  run.Protection{Hidden: func(path string) bool { return filepath.Base(path) == ".env" }},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { work.Close(0) })
		if _, _, err := work.Runner().Sandbox(t.Context()); err != nil { // else it is not known
			t.Fatal(err)
		}
		o.Workspace = work
	})
}

func makeDirs(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// P5, S7: where the session's directories cannot be searched as a whole, a command that would
// run unasked is asked about, unless a rule of the user's allows it.
func TestExposedFiles_Names(t *testing.T) {
	s := hidingStage(t, sandbox.Landlock)
	s.policy.Add(permissions.DefaultScope, permissions.Defaults(permissions.ModeAuto, true, builtin.Defaults())...)
	s.policy.Add(permissions.User, permissions.Rule{Permission: "bash", Pattern: "cargo build*", Action: capability.Allow})
	expect := func(text, want string) {
		t.Helper()
		input, err := json.Marshal(object{"cmd": text})
		if err != nil {
			t.Fatal(err)
		}
		e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: string(input)})
		if e.Action.String() != want {
			t.Errorf("%q is %v (%s), want %s", text, e.Action, e.Reason, want)
		}
		if held := strings.Contains(e.Reason, "too much to look through"); held != (want == "ask") {
			t.Errorf("%q: the reason is %q", text, e.Reason)
		}
	}
	expect("make all", "allow")
	expect("cargo build", "allow")
	makeDirs(t, filepath.Join(s.dir, strings.Repeat("d/", 120)))
	expect("make all", "ask")
	expect("cargo build", "allow")
}

// A repository full of names of secrets does not push one out of what is hidden from a
// command that runs unasked.
func TestExposedFiles_Secrets(t *testing.T) {
	for kind, want := range map[sandbox.Kind]capability.Action{sandbox.Seatbelt: capability.Ask, sandbox.Landlock: capability.Allow} {
		s := hidingStage(t, kind)
		s.policy.Add(permissions.DefaultScope, permissions.Defaults(permissions.ModeAuto, true, builtin.Defaults())...)
		for i := range 103 {
			makeDirs(t, filepath.Join(s.dir, fmt.Sprint(i)))
			s.write(t, fmt.Sprintf("%d/.env", i), "x")
		}
		if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: `{"cmd": "make all"}`}); e.Action != want {
			t.Errorf("%s: %v (%s), want %v", kind, e.Action, e.Reason, want)
		}
	}
}

// The user is told once that more secrets lie in the session's directories than a command
// can be kept from, where it is kept from any.
func TestExposedFiles_Notice(t *testing.T) {
	for kind, want := range map[sandbox.Kind]int{sandbox.Seatbelt: 1, sandbox.Landlock: 0} {
		s := hidingStage(t, kind)
		s.policy.Add(permissions.User, permissions.Rule{Permission: "bash", Pattern: "make*", Action: capability.Allow})
		for i := range 103 {
			makeDirs(t, filepath.Join(s.dir, fmt.Sprint(i)))
			s.write(t, fmt.Sprintf("%d/.env", i), "x")
		}
		for range 2 {
			s.call(t, "bash", object{"cmd": "make all"})
		}
		var texts []string
		for _, e := range s.events {
			if n, ok := e.(transcript.Notice); ok && n.Title == "Secrets in reach of commands" {
				texts = append(texts, n.Text)
			}
		}
		if len(texts) != want || want > 0 && !strings.HasPrefix(texts[0], "3 files") {
			t.Errorf("%s: told %q, want %d", kind, texts, want)
		}
	}
}
