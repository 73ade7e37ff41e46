package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// TestPipeline_ForThisProject holds what the fifth answer does (R152): it is offered
// where "always" is and nowhere else, stores the same narrow rule, and falls back on the
// session when that cannot be stored.
func TestPipeline_ForThisProject(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(outside, []byte("far away\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, tool string
		args       object
		fails      error
		offered    bool
		kept       []string
		asked      int // in two calls
	}{
		{"a file", "write", object{"path": "a.txt", "content": "x"}, nil, true, []string{"write a.txt"}, 1},
		{"a command", "bash", object{"cmd": "touch made"}, nil, true, []string{"bash touch made"}, 1},
		{"the store is full", "write", object{"path": "a.txt", "content": "x"}, errors.New("no space"), true, nil, 1},
		{"an interpreter", "bash", object{"cmd": "sh -c true"}, nil, false, nil, 2},
		{"known only when it runs", "bash", object{"cmd": "touch $X/a"}, nil, false, nil, 2},
		{"dangerous", "bash", object{"cmd": "rm -rf made"}, nil, false, nil, 2},
		{"protected", "write", object{"path": ".exrc", "content": "x"}, nil, false, nil, 2},
		{"a directory outside", "read", object{"path": outside}, nil, false, nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var kept []string
			var s *stage
			s = newStage(t, func(o *pipeline.Options) {
				sessionOf(o).store = func(rules []permissions.Rule) error {
					if tt.fails != nil {
						return tt.fails
					}
					for _, r := range rules {
						if r.Source != permissions.SourceAlways || r.AddedAt.IsZero() {
							t.Errorf("rule %+v has no source or time", r)
						}
						kept = append(kept, r.Permission+" "+o.Workspace.Session().Rel(r.Pattern))
					}
					s.policy.Replace(permissions.Project, rules)
					return nil
				}
			})
			s.answers = []tools.Answer{tools.AllowProject, tools.AllowProject}
			for i := range 2 {
				s.call(t, tt.tool, tt.args)
				if len(s.asked) > i && s.asked[i].Project != tt.offered {
					t.Errorf("call %d: offered %v, want %v", i, s.asked[i].Project, tt.offered)
				}
			}
			if diff := cmp.Diff(tt.kept, kept); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if len(s.asked) != tt.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), tt.asked)
			}
			said := slices.ContainsFunc(s.events, func(e transcript.Event) bool {
				notice, ok := e.(transcript.Notice)
				return ok && notice.Title == "Not kept for the project"
			})
			if said != (tt.fails != nil) {
				t.Errorf("the failure was said: %v", said)
			}
		})
	}
	t.Run("the project asks for this very thing", func(t *testing.T) {
		s := newStage(t, func(o *pipeline.Options) { sessionOf(o).store = func([]permissions.Rule) error { return nil } })
		s.policy.Replace(permissions.Project, []permissions.Rule{{Permission: "bash", Pattern: "touch made"}})
		s.answers = []tools.Answer{tools.AllowOnce}
		s.call(t, "bash", object{"cmd": "touch made"})
		if len(s.asked) != 1 || s.asked[0].Project || s.asked[0].Remember == "" {
			t.Errorf("asked %d times, offered %v for %q", len(s.asked), s.asked[0].Project, s.asked[0].Remember)
		}
	})
	t.Run("nowhere to store", func(t *testing.T) {
		s := newStage(t, nil)
		s.answers = []tools.Answer{tools.AllowProject, tools.AllowProject}
		for i := range 2 {
			s.call(t, "write", object{"path": "a.txt", "content": fmt.Sprint(i)})
		}
		if len(s.asked) != 2 || s.asked[0].Project {
			t.Errorf("asked %d times, offered %v", len(s.asked), s.asked[0].Project)
		}
	})
}

// TestPipeline_SessionAndProject holds which rules of the session may be kept for the
// project later: rules that could have been kept at once (R152).
func TestPipeline_SessionAndProject(t *testing.T) {
	keep := func(o *pipeline.Options) { sessionOf(o).store = func([]permissions.Rule) error { return nil } }
	for _, tt := range []struct {
		name string
		file []permissions.Rule // of the project
		keep func(*pipeline.Options)
		want bool
	}{
		{"plain", nil, keep, true},
		{"the project asks for it", []permissions.Rule{{Permission: "bash", Pattern: "touch made"}}, keep, false},
		{"nowhere to store", nil, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, tt.keep)
			s.policy.Replace(permissions.Project, tt.file)
			s.answers = []tools.Answer{tools.AllowAlways}
			s.call(t, "bash", object{"cmd": "touch made"})
			rules := s.policy.Rules().In(permissions.Session)
			if len(rules) != 1 || s.policy.MayStore(rules[0]) != tt.want {
				t.Errorf("may be kept: %v, of %+v", !tt.want, rules)
			}
		})
	}
}

// TestPipeline_CardWithoutAdvice holds that a card shows what the user wants to see of a
// refusal, and the model reads what to do.
func TestPipeline_CardWithoutAdvice(t *testing.T) {
	for answer, want := range map[tools.Answer]string{
		tools.RejectOnce: "Rejected.", tools.RejectAlways: "Rejected, for the rest of the session.", tools.Cancelled: "",
	} {
		s := newStage(t, nil)
		s.answers = []tools.Answer{answer}
		end := s.call(t, "bash", object{"cmd": "touch made"})
		if end.Shown != want || want != "" && !strings.Contains(end.Text, "\nDo not try it again in another way") {
			t.Errorf("answer %d: the card shows %q, the model reads %q", answer, end.Shown, end.Text)
		}
	}
}

// TestPipeline_ToAllow is R118: the state says what could be allowed, with "*"; the
// request never offers it (R152).
func TestPipeline_ToAllow(t *testing.T) {
	s := newStage(t, nil)
	s.call(t, "bash", object{"cmd": "npm  run build"})
	i := slices.IndexFunc(s.events, func(e transcript.Event) bool {
		state, ok := e.(transcript.ToolState)
		return ok && state.State == transcript.BlockedOnUser
	})
	if i < 0 || len(s.asked) != 1 {
		t.Fatalf("no question: %+v", s.events)
	}
	if diff := cmp.Diff([]string{"npm  run build", "npm", "*"}, s.events[i].(transcript.ToolState).ToAllow); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if got := s.asked[0].Remember; got != "the very command npm run build" {
		t.Errorf("the card offers %q", got)
	}
}

// TestPolicy_Forget holds that a rule which is revoked is gone, and no other.
func TestPolicy_Forget(t *testing.T) {
	policy := pipeline.NewPolicy(permissions.Set{})
	policy.Remember(permissions.Rule{Permission: "edit", Pattern: "/w/a"}, permissions.Rule{Permission: "edit", Pattern: "/w/b"})
	rules := policy.Rules().In(permissions.Session)
	if len(rules) != 2 || rules[0].AddedAt.IsZero() {
		t.Fatalf("rules %+v", rules)
	}
	if !policy.Forget(rules[0]) || policy.Forget(rules[0]) {
		t.Error("a rule is forgotten once")
	}
	if left := policy.Rules().In(permissions.Session); len(left) != 1 || left[0].Pattern != "/w/b" {
		t.Errorf("left %+v", left)
	}
}
