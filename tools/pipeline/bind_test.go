package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// A link inside the session's directories that is turned between the judgement and the
// use leads to nothing that was not judged: not what a rule denies, not a protected
// name, not another file than the user was shown (P3, E6).
func TestBind_TurnedLink(t *testing.T) {
	setup := func(t *testing.T) *stage {
		s := newStage(t, nil)
		for _, dir := range []string{"plain", "kept", ".vscode"} {
			if err := os.Mkdir(filepath.Join(s.dir, dir), 0o755); err != nil {
				t.Fatal(err)
			}
			s.write(t, dir+"/f", "one\n")
		}
		turn(t, s, "plain")
		s.policy.Remember(
			permissions.Rule{Permission: "*", Pattern: "{workspace}/kept/**", Action: capability.Deny, Source: "test"},
			permissions.Rule{Permission: "grep", Pattern: "*", Action: capability.Allow, Source: "test"},
		)
		s.answers = []tools.Answer{tools.AllowOnce, tools.AllowOnce}
		return s
	}
	tests := []struct {
		name, to string
		args     object
	}{
		{"edit", "kept", object{"path": "way/f", "old_str": "one", "new_str": "two"}},
		{"edit", ".vscode", object{"path": "way/f", "old_str": "one", "new_str": "two"}},
		{"write", "kept", object{"path": "way/f", "content": "two\n"}},
		{"write", ".vscode", object{"path": "way/new", "content": "two\n"}},
		{"delete_file", "kept", object{"path": "way/f"}},
		{"apply_patch", "kept", object{"patch": "*** Begin Patch\n*** Update File: way/f\n@@\n-one\n+two\n*** End Patch\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name+" to "+tt.to, func(t *testing.T) {
			s := setup(t)
			s.onAsk = func(tools.PermissionRequest) { turn(t, s, tt.to) }
			end := s.call(t, tt.name, tt.args)
			if end.State == transcript.Done || len(s.asked) != 1 {
				t.Errorf("ended as %q with %q, asked %d times", end.State, end.Text, len(s.asked))
			}
			for _, dir := range []string{"plain", "kept", ".vscode"} {
				got, err := os.ReadFile(filepath.Join(s.dir, dir, "f"))
				if err != nil || string(got) != "one\n" {
					t.Errorf("%s/f holds %q, %v", dir, got, err)
				}
				if _, err := os.Stat(filepath.Join(s.dir, dir, "new")); err == nil {
					t.Errorf("%s/new was made", dir)
				}
			}
		})
	}
}

// turn makes way lead to a directory, at once.
func turn(t *testing.T, s *stage, to string) {
	t.Helper()
	temp := filepath.Join(s.dir, "way.next")
	if err := os.Symlink(to, temp); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(s.dir, "way")); err != nil {
		t.Fatal(err)
	}
}

// A tool that reaches for a path which its call did not name does not get past the
// rules and the protected names either.
func TestBind_UnnamedPath(t *testing.T) {
	deny := permissions.Rule{Permission: "*", Pattern: "{workspace}/kept/**", Action: capability.Deny, Source: "test"}
	files := capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}"}, Write: []string{"{workspace}"}}}
	tests := []struct {
		name, path string
		write      bool
		want       string // of the error; "" means none
	}{
		{"read", "plain/f", false, ""},
		{"read of what a rule denies", "kept/f", false, "a rule forbids it"},
		{"read by a link of what a rule denies", "way/f", false, "a rule forbids it"},
		{"write", "plain/new", true, ""},
		{"write of what a rule denies", "kept/new", true, "deny rule"},
		{"write by a link of what a rule denies", "way/new", true, "deny rule"},
		{"write of a protected name", ".vscode/new", true, "always asked"},
		{"write of the agent's own", ".acp-agent/new", true, "agent's own"},
		{"write of a secret", ".env", true, "holds secrets"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got error
			s := customStage(t, tools.Spec{Requires: files}, func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
				if tt.write {
					got = rt.FS().WriteText(ctx, tt.path, "x", nil)
				} else {
					_, got = rt.FS().ReadText(ctx, tt.path)
				}
				return nil, nil
			})
			for _, dir := range []string{"plain", "kept"} {
				if err := os.Mkdir(filepath.Join(s.dir, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				s.write(t, dir+"/f", "one\n")
			}
			turn(t, s, "kept")
			s.policy.Remember(deny)
			s.call(t, "custom", object{})
			switch {
			case tt.want == "" && got != nil:
				t.Errorf("refused: %v", got)
			case tt.want != "" && (got == nil || !strings.Contains(got.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", got, tt.want)
			}
		})
	}
}

// The change of a protected file by way of a link is taken back at the file itself, which
// was judged under the other spelling.
func TestBind_TakesBackByItsPlace(t *testing.T) {
	s := newStage(t, nil)
	if err := os.Mkdir(filepath.Join(s.dir, ".vscode"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := s.write(t, ".vscode/f", "one\n")
	turn(t, s, ".vscode")
	s.answers = []tools.Answer{tools.AllowOnce, tools.AllowOnce}
	want(t, s.call(t, "edit", object{"path": "way/f", "old_str": "one", "new_str": "two"}), transcript.Done, "")
	want(t, s.call(t, "undo_edit", object{"path": "way/f"}), transcript.Done, "")
	if got, err := os.ReadFile(path); err != nil || string(got) != "one\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	s.answers = append(s.answers, tools.AllowOnce, tools.AllowOnce)
	want(t, s.call(t, "write", object{"path": ".zed/tasks.json", "content": "{}"}), transcript.Done, "")
	want(t, s.call(t, "undo_edit", object{"path": ".zed/tasks.json"}), transcript.Done, "")
	if _, err := os.Stat(filepath.Join(s.dir, ".zed")); err == nil {
		t.Error("the directory that was made for the file is still there")
	}
}
