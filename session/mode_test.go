package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/loop"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// openIn opens a session whose configured mode is given, on a machine with the probe.
func openIn(t *testing.T, mode permissions.Mode, probe *sandbox.Probe, steps string, change ...func(*session.Host, *session.Spec)) (*session.Session, *recorder) {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(steps))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	provider := loaded.Provider(script.Options{})
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "script"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits(), Mode: mode}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }}, Processes: session.Processes{Sandbox: probe},
	}
	rec := newRecorder()
	spec := session.Spec{Cwd: t.TempDir(), Client: session.Client{Sink: rec, Asker: yes{}}}
	for _, c := range change {
		c(host, &spec)
	}
	s, err := host.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(0)
		host.Close()
	})
	return s, rec
}

// finds is a probe that has found a kind of sandbox.
func finds(t *testing.T, kind sandbox.Kind) *sandbox.Probe {
	t.Helper()
	return sandboxed(t, sandbox.Report{Kind: kind, Network: true, Notes: []string{"As tried."}})
}

func sandboxed(t *testing.T, report sandbox.Report) *sandbox.Probe {
	t.Helper()
	p := sandbox.NewProbe(func(context.Context) sandbox.Report { return report })
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func modes(s *session.Session) []string {
	var ids []string
	for _, m := range s.Modes() {
		ids = append(ids, m.ID)
	}
	return ids
}

func changedTo(mode string) func(transcript.Event) bool {
	return func(e transcript.Event) bool {
		changed, ok := e.(transcript.ModeChanged)
		return ok && changed.ModeID == mode
	}
}

// R157: auto is there where processes are known to be confined, and the configured mode
// is the first.
func TestModes_Offered(t *testing.T) {
	tests := []struct {
		name       string
		configured permissions.Mode
		probe      *sandbox.Probe
		first      string
		auto       bool
		why        string
	}{
		{"no probe", "", nil, "ask", false, "there is no sandbox on this machine"},
		{"none", permissions.ModeCode, finds(t, sandbox.None), "code", false, "no sandbox on this machine (As tried)"},
		{"a wall", permissions.ModePlan, finds(t, sandbox.Landlock), "plan", true, ""},
		{"auto with a wall", permissions.ModeAuto, finds(t, sandbox.Bubblewrap), "auto", true, ""},
		{"auto without", permissions.ModeAuto, finds(t, sandbox.None), "ask", false, "no sandbox"},
		{"a wall with a gap", permissions.ModeAuto, sandboxed(t, sandbox.Report{Kind: sandbox.Landlock}), "ask", false, "(landlock) cannot keep commands from the network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := openIn(t, tt.configured, tt.probe, "{}")
			if s.Mode() != tt.first {
				t.Errorf("the session begins in %s, want %s", s.Mode(), tt.first)
			}
			if got := slices.Contains(modes(s), "auto"); got != tt.auto {
				t.Errorf("modes %q", modes(s))
			}
			err := s.SetMode("auto")
			if value, refused := errors.AsType[*session.BadValueError](err); refused == tt.auto {
				t.Errorf("setting it gave %v", err)
			} else if refused && !strings.Contains(value.Error(), tt.why) {
				t.Errorf("error %q, want %q", value, tt.why)
			}
		})
	}
}

// Landlock cannot take away what lies in a directory that may be written, so that there is
// no mode auto where that is the home or holds the agent's own files.
func TestModes_OwnInside(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   sandbox.Kind
		change func(*session.Host, *session.Spec)
		auto   bool
	}{
		{"own files", sandbox.Landlock, func(h *session.Host, s *session.Spec) { h.Own = []string{filepath.Join(s.Cwd, ".config", "acp-agent")} }, false},
		{"own files in another directory", sandbox.Landlock, func(h *session.Host, s *session.Spec) {
			dir := t.TempDir()
			s.Additional, h.Own = []string{dir}, []string{filepath.Join(dir, "own")}
		}, false},
		{"the home", sandbox.Landlock, func(h *session.Host, s *session.Spec) { h.Home = s.Cwd }, false},
		{"a wall that can", sandbox.Bubblewrap, func(h *session.Host, s *session.Spec) { h.Home = s.Cwd }, true},
		{"a project of the home", sandbox.Landlock, func(h *session.Host, s *session.Spec) { h.Home = filepath.Dir(s.Cwd) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := openIn(t, permissions.ModeAsk, finds(t, tt.kind), "{}", tt.change)
			if got := slices.Contains(modes(s), "auto"); got != tt.auto {
				t.Errorf("modes %q", modes(s))
			}
		})
	}
}

// A wall that is found after session/new is announced, and the configured mode taken,
// unless the user has chosen another meanwhile; without one the session says so.
func TestModes_FoundLate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   sandbox.Kind
		chosen string
		want   string
	}{
		{"a wall", sandbox.Landlock, "", "auto"},
		{"a wall, and another choice", sandbox.Landlock, "code", "code"},
		{"none", sandbox.None, "", "ask"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			release := make(chan struct{})
			probe := sandbox.NewProbe(func(context.Context) sandbox.Report {
				<-release
				return sandbox.Report{Kind: tt.kind, Network: true}
			})
			s, rec := openIn(t, permissions.ModeAuto, probe, `{"say":"x","repeat":-1}`)
			s.Start()
			if tt.chosen != "" {
				if err := s.SetMode(tt.chosen); err != nil {
					t.Fatal(err)
				}
			}
			close(release)
			if err := s.AwaitMode(t.Context()); err != nil {
				t.Fatal(err)
			}
			wait(t, prompt(s, "go"), loop.EndTurn)
			if s.Mode() != tt.want {
				t.Errorf("mode %s, want %s", s.Mode(), tt.want)
			}
			if tt.kind == sandbox.None {
				rec.await(t, "notice", noticed("auto is not available"))
				return
			}
			if !slices.Contains(modes(s), "auto") {
				t.Errorf("modes %q", modes(s))
			}
		})
	}
	t.Run("announced", func(t *testing.T) {
		release := make(chan struct{})
		probe := sandbox.NewProbe(func(context.Context) sandbox.Report {
			<-release
			return sandbox.Report{Kind: sandbox.Landlock, Network: true}
		})
		s, rec := openIn(t, permissions.ModeAuto, probe, "{}")
		s.Start()
		close(release)
		rec.await(t, "change of mode", changedTo("auto"))
	})
	t.Run("before the first turn", func(t *testing.T) {
		probe := sandbox.NewProbe(func(context.Context) sandbox.Report { return sandbox.Report{Kind: sandbox.Landlock, Network: true} })
		s, rec := openIn(t, permissions.ModeAuto, probe, `{"expect":{"told":"name=\"auto\">"},"say":"x"}`)
		wait(t, prompt(s, "go"), loop.EndTurn)
		rec.await(t, "change of mode", changedTo("auto"))
	})
}

// R157: leaving plan mode leads to the mode that it was entered from, or to code when it
// was the first; both kinds of updates follow, and the plan mode of another session is
// not touched.
func TestPlanExit_Leads(t *testing.T) {
	const exit = `{"call":[{"name":"plan_exit","args":{"plan":"# Plan"}}]}` + "\n" + `{"say":"left"}`
	for _, tt := range []struct {
		configured permissions.Mode
		way        []string
		want       string
	}{
		{permissions.ModePlan, nil, "code"},
		{permissions.ModeAsk, []string{"plan"}, "ask"},
		{permissions.ModeCode, []string{"plan", "plan"}, "code"},
		{permissions.ModePlan, []string{"auto", "plan"}, "auto"},
		{permissions.ModePlan, []string{"ask", "plan"}, "ask"},
	} {
		s, rec := openIn(t, tt.configured, finds(t, sandbox.Landlock), exit)
		for _, mode := range tt.way {
			if err := s.SetMode(mode); err != nil {
				t.Fatal(err)
			}
		}
		wait(t, prompt(s, "go"), loop.EndTurn)
		if s.Mode() != tt.want {
			t.Errorf("from %s by %q: mode %s, want %s", tt.configured, tt.way, s.Mode(), tt.want)
		}
		if !slices.ContainsFunc(rec.all(), changedTo(tt.want)) {
			t.Errorf("from %s by %q: the change was not announced", tt.configured, tt.way)
		}
	}
}

// R138, R157: the model is told of the mode at the end of the conversation, with every
// prompt of a mode that binds it, and once that it is over; what was said stays, so that
// one request begins as the one before.
func TestStatement(t *testing.T) {
	steps := `{"expect":{"not_told":"session_mode","messages":1},"say":"a"}
{"expect":{"told":"name=\"plan\">","messages":3},"say":"b"}
{"expect":{"told":"name=\"plan\">","messages":5},"say":"c"}
{"expect":{"told":"Plan mode is over","messages":7},"say":"d"}
{"expect":{"not_told":"session_mode","messages":9},"say":"e"}
{"expect":{"not_told":"session_mode","messages":11},"say":"f"}
{"expect":{"told":"asked about the network","messages":13},"say":"g"}
{"expect":{"told":"name=\"ask\">","messages":15},"say":"h"}`
	s, _ := openIn(t, "", finds(t, sandbox.Landlock), steps)
	for _, mode := range []string{"", "plan", "", "code", "", "ask", "auto", "ask"} {
		if mode != "" {
			if err := s.SetMode(mode); err != nil {
				t.Fatal(err)
			}
		}
		wait(t, prompt(s, "go"), loop.EndTurn)
	}
}

// R10, R157: plan mode has the tools that change nothing, by what they declare.
func TestPlanMode_Tools(t *testing.T) {
	s, _ := openIn(t, permissions.ModePlan, nil, "{}", func(h *session.Host, _ *session.Spec) {
		h.Configure = func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits(), Mode: permissions.ModePlan, Subagents: session.Subagents{Depth: 2}}, nil
		}
	})
	var there []string
	for _, entry := range s.Tools() {
		if s.ToolStatus(entry.ID).Off == "" {
			there = append(there, entry.ID)
		}
	}
	want := []string{
		"read", "glob", "grep", "bash", "todo", "task", "web_fetch", "tool_search",
		"repo_overview", "view_image", "plan", "plan_exit", "finder", "oracle", "librarian", "task_list",
	}
	if !slices.Equal(there, want) {
		t.Errorf("tools %q, want %q", there, want)
	}
}
