package pipeline_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// TestReading_Unconfined is R119: where nothing confines commands, those of the short list
// run unasked, and of the others the ones that a rule of the user's allows. The user is told
// so once, whatever is asked then.
func TestReading_Unconfined(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		work, err := workspace.New(workspace.Options{
			SessionID:   "ses_none",
			Directories: workspace.Directories{Cwd: o.Workspace.Session().Cwd, State: filepath.Join(t.TempDir(), "state"), Home: t.TempDir()},
			Protection:  run.Protection{Secret: permissions.Secret},
			Commands:    run.Options{Sandbox: pretended(sandbox.None)},
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
	s.write(t, "a.txt", "x\n")
	s.policy.Add(permissions.User, permissions.Rule{Permission: "bash", Pattern: "cut *", Action: capability.Allow})
	for text, want := range map[string]string{
		"ls": "allow", "ls -la && pwd": "allow", "cat a.txt | sort | uniq -c": "allow", "grep -n x a.txt": "allow", "find . -name '*.go'": "allow",
		"python3 --version": "allow", "go version": "allow", "cat < a.txt": "allow", "cat a.txt 2>/dev/null": "allow",
		"cut -c1 a.txt": "allow", "cut -c1 a.txt | wc -l": "allow",
		"awk '{print $1}' a.txt": "ask", "ls; stat a.txt": "ask", "jq . a.txt": "ask", "sed -n 1p a.txt": "ask", "file a.txt": "ask",
		"cat <<EOF\nx\nEOF": "ask", "echo \u00e9": "ask", "echo a\\ b": "ask", "if true; then ls; fi": "ask", "cut -c1 a.txt | rev": "ask",
	} {
		input, err := json.Marshal(object{"cmd": text})
		if err != nil {
			t.Fatal(err)
		}
		if e := s.Explain(t.Context(), pipeline.Call{Name: "bash", Input: string(input)}); e.Action.String() != want {
			t.Errorf("%q is %v (%s), want %s", text, e.Action, e.Reason, want)
		}
	}
	s.answers = []tools.Answer{tools.RejectOnce, tools.RejectOnce}
	for range 2 {
		want(t, s.call(t, "bash", object{"cmd": "stat a.txt"}), transcript.Rejected, "")
	}
	if len(s.asked) != 2 {
		t.Errorf("asked %d times", len(s.asked))
	}
	notices := 0
	for _, e := range s.events {
		if n, ok := e.(transcript.Notice); ok && n.Title == "No sandbox" {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("told %d times that there is no sandbox", notices)
	}
}
