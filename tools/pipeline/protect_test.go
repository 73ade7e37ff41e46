package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// What an undo changes besides the file that was named is judged too: a renaming
// out of a protected directory is not taken back unasked.
func TestUndo_OfARenamingIsJudgedUnderBothNames(t *testing.T) {
	s := newStage(t, nil)
	s.answers = []tools.Answer{tools.AllowOnce, tools.RejectOnce}
	if err := os.Mkdir(filepath.Join(s.dir, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(t, ".vscode/tasks.json", "{}\n")
	want(t, s.call(t, "apply_patch", object{"patch": "rename from .vscode/tasks.json\nrename to example.json\n"}), transcript.Done, "")
	want(t, s.call(t, "undo_edit", object{"path": "example.json"}), transcript.Rejected, "the user rejected this call")
	if len(s.asked) != 2 {
		t.Fatalf("asked %d times", len(s.asked))
	}
	shown := ""
	for _, content := range s.asked[1].Ready.Card.Content {
		if text, ok := content.(kinds.Text); ok {
			shown += text.Text
		}
	}
	if !strings.Contains(shown, ".vscode/tasks.json") {
		t.Errorf("the card does not name the protected file: %q", shown)
	}
}

// A patch that deletes is bound by the rules for delete_file.
func TestPatch_DeletionIsBoundByDeleteFile(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Policy.SetDefaults(permissions.Defaults(permissions.ModeCode, false, builtin.Defaults()))
	})
	s.write(t, "keep.txt", "keep\n")
	gone := object{"patch": "*** Begin Patch\n*** Delete File: keep.txt\n*** End Patch\n"}
	want(t, s.call(t, "apply_patch", gone), transcript.Rejected, "the user rejected this call")
	if len(s.asked) != 1 {
		t.Errorf("asked %d times, want once: code mode asks about deletions", len(s.asked))
	}
	s.policy.Remember(permissions.Rule{Permission: "delete_file", Pattern: "*", Action: capability.Deny, Source: "test"})
	want(t, s.call(t, "apply_patch", gone), transcript.Rejected, "delete_file")
	if _, err := os.Stat(filepath.Join(s.dir, "keep.txt")); err != nil {
		t.Errorf("the file: %v", err)
	}
}

// The user sees where a change by way of a link will really be (O1).
func TestAsk_NamesWhereALinkLeads(t *testing.T) {
	s := newStage(t, nil)
	if err := os.Mkdir(filepath.Join(s.dir, ".husky"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".husky", filepath.Join(s.dir, "hk")); err != nil {
		t.Fatal(err)
	}
	s.call(t, "write", object{"path": "hk/pre-commit", "content": "x"})
	real := filepath.Join(s.dir, ".husky", "pre-commit")
	if len(s.asked) != 1 || !strings.Contains(s.asked[0].Reason, real) {
		t.Fatalf("asked %d times; the reason must name %s: %+v", len(s.asked), real, s.asked)
	}
	locations := s.asked[0].Ready.Card.Locations
	if len(locations) == 0 || locations[len(locations)-1].Path != real {
		t.Errorf("locations = %v, want %s last", locations, real)
	}
	s.call(t, "write", object{"path": "plain", "content": "x"})
	if strings.Contains(s.asked[1].Reason, "leads to") {
		t.Errorf("a plain path: %q", s.asked[1].Reason)
	}
}

// An "always" about one thing never frees the tool for others (E5).
func TestAlways_IsNoWiderThanWhatWasShown(t *testing.T) {
	s := newStage(t, nil)
	s.answers = []tools.Answer{tools.AllowAlways, tools.AllowAlways, tools.AllowAlways}
	s.call(t, "repo_clone", object{"url": "https://github.invalid/a/b"})
	s.call(t, "repo_clone", object{"url": "https://attacker.invalid/a/b"})
	if len(s.asked) != 2 {
		t.Errorf("asked %d times about clones from two hosts, want 2", len(s.asked))
	}
	s.write(t, "x.go", "package x\n")
	s.write(t, "y.go", "package y\n")
	for _, name := range []string{"x.go", "y.go"} {
		s.call(t, "format_file", object{"path": name})
	}
	if len(s.asked) != 4 {
		t.Errorf("asked %d times about two clones and two files, want 4", len(s.asked))
	}
}

// R20, R121: the capability check comes before the watchdog, whose word lifts
// nothing.
func TestWatchdog_NeverSeesWhatTheCapabilityCheckRefused(t *testing.T) {
	seen := 0
	s := newStage(t, func(o *pipeline.Options) {
		o.Watchdog = judgeFunc(func() permissions.Decision {
			seen++
			return permissions.Decision{Action: capability.Allow}
		})
		o.Policy.Remember(allow("write"))
	})
	outside := filepath.Join(t.TempDir(), "x")
	want(t, s.call(t, "write", object{"path": outside, "content": "x"}), transcript.Rejected, "outside the session's directories")
	if seen != 0 {
		t.Errorf("the watchdog saw %d calls", seen)
	}
	want(t, s.call(t, "write", object{"path": "x", "content": "x"}), transcript.Done, "")
	if seen == 0 {
		t.Error("the watchdog did not see the call that was let through")
	}
}
