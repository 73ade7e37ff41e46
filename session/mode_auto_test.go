package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"acp-agent/loop"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// expecting is what a probe knows beforehand.
type expecting sandbox.Kind

func (e expecting) Expected() (sandbox.Report, bool) {
	return sandbox.Report{Kind: sandbox.Kind(e), Network: true}, e != ""
}

func (expecting) Keep(context.Context, sandbox.Report) error { return nil }

// trial is a probe that expects one kind and finds another once it is released.
func trial(expected, found sandbox.Kind) (probe *sandbox.Probe, release func()) {
	released := make(chan struct{})
	probe = sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
		select {
		case <-released:
		case <-ctx.Done():
		}
		return sandbox.Report{Kind: found, Network: true}
	})
	probe.Memory = expecting(expected)
	return probe, func() { close(released) }
}

// R157: auto is listed first by the expected finding, last while nothing is known, and a
// choice of it is decided by the trial: nothing is confined by what is expected. What it means is
// said in the first session that works in it.
func TestModes_Expected(t *testing.T) {
	const yes, none = sandbox.Landlock, sandbox.None
	for _, tt := range []struct {
		name            string
		configured      permissions.Mode
		expected, found sandbox.Kind
		listed          bool   // before the trial
		first           string // mode before the trial
		choose          string
		refused         string
		last            string
		notice          string
	}{
		{name: "unknown, then found", found: yes, listed: true, first: "ask", choose: "auto", last: "auto"},
		{name: "unknown, then none", found: none, listed: true, first: "ask", choose: "auto", refused: "no sandbox", last: "ask"},
		{name: "unknown and configured, then none", configured: permissions.ModeAuto, found: none, listed: true, first: "ask", last: "ask", notice: "configured mode auto is not available"},
		{name: "expected and found", expected: yes, found: yes, listed: true, first: "ask", choose: "auto", last: "auto"},
		{name: "expected, then none", expected: yes, found: none, listed: true, first: "ask", choose: "auto", refused: "no sandbox", last: "ask", notice: "allowed before, is not available"},
		{name: "expected and configured, then none", configured: permissions.ModeAuto, expected: yes, found: none, listed: true, first: "auto", last: "ask", notice: "allowed before, is not available"},
		{name: "none expected, then found", expected: none, found: yes, first: "ask", choose: "auto", last: "auto"},
		{name: "none expected, configured, then found", configured: permissions.ModeAuto, expected: none, found: yes, first: "ask", last: "auto"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			probe, release := trial(tt.expected, tt.found)
			s, rec := openIn(t, tt.configured, probe, `{"say":"x","repeat":-1}`)
			got, at := modes(s), 0
			if tt.expected == "" {
				at = len(got) - 1
			}
			if slices.Contains(got, "auto") != tt.listed || tt.listed && got[at] != "auto" {
				t.Errorf("modes %q", got)
			}
			if s.Mode() != tt.first {
				t.Errorf("the session begins in %s, want %s", s.Mode(), tt.first)
			}
			s.Start()
			if tt.choose != "" {
				if err := s.SetMode(tt.choose); err != nil {
					t.Fatal(err)
				}
			}
			release()
			if _, err := probe.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Decide(t.Context(), session.ModeOption, tt.choose); (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("the choice: %v", err)
			}
			wait(t, prompt(s, "go"), loop.EndTurn)
			if s.Mode() != tt.last || slices.Contains(modes(s), "auto") != (tt.found == yes) {
				t.Errorf("mode %s of %q, want %s", s.Mode(), modes(s), tt.last)
			}
			if tt.notice != "" {
				rec.await(t, "notice", noticed(tt.notice))
				return
			}
			want := 0
			if tt.last == "auto" {
				want = 1
				rec.await(t, "notice", noticed("without a question inside the project and its sandbox"))
			}
			given := slices.DeleteFunc(rec.all(), func(e transcript.Event) bool { _, is := e.(transcript.Notice); return !is })
			if len(given) != want {
				t.Errorf("notices %+v, want %d", given, want)
			}
		})
	}
}

// A choice of auto that is not decided in time is refused with that reason, and the trial's
// end does not bring it back; what is configured stays wanted.
func TestModes_UndecidedTooLong(t *testing.T) {
	for _, tt := range []struct {
		configured permissions.Mode
		last       string
	}{{"", "ask"}, {permissions.ModeAuto, "auto"}} {
		probe, release := trial("", sandbox.Landlock)
		s, _ := openIn(t, tt.configured, probe, `{"say":"x"}`)
		if err := s.SetMode("auto"); err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		err := s.Decide(over, session.ModeOption, "auto")
		if value, is := errors.AsType[*session.BadValueError](err); !is || !strings.Contains(value.Error(), "still being found out") || slices.Contains(value.Legal, "auto") {
			t.Errorf("the choice: %v", err)
		}
		release()
		if err := s.AwaitMode(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Mode() != tt.last {
			t.Errorf("configured %q: mode %s, want %s", tt.configured, s.Mode(), tt.last)
		}
	}
}

// asks counts what is asked, does something at the first question, and says no.
type asks struct {
	count *int
	first func()
}

func (a asks) Ask(context.Context, tools.PermissionRequest) (tools.Answer, error) {
	if *a.count++; *a.count == 1 {
		a.first()
	}
	return tools.RejectOnce, nil
}

// While a sandbox is only expected, the rules of ask are in force whatever the mode is: a
// turn that is put into auto goes on asking until the trial has ended.
func TestModes_ExpectedAllowsNothing(t *testing.T) {
	probe, release := trial(sandbox.Landlock, sandbox.Landlock)
	count := 0
	var s *session.Session
	const write = `{"call":[{"name":"write","args":{"path":"a","content":"x"}}]}` + "\n"
	s, _ = openIn(t, "", probe, write+write+`{"say":"x"}`+"\n"+write+`{"say":"x"}`, func(_ *session.Host, spec *session.Spec) {
		spec.Asker = asks{&count, func() {
			if err := s.SetMode("auto"); err != nil {
				t.Error(err)
			}
		}}
	})
	wait(t, prompt(s, "go"), loop.EndTurn)
	if count != 2 || s.Mode() != "auto" {
		t.Errorf("%d questions in mode %s, want 2 in auto", count, s.Mode())
	}
	release()
	wait(t, prompt(s, "go"), loop.EndTurn)
	if count != 2 {
		t.Errorf("%d questions after the trial, want no more", count-2)
	}
}

// R157: the answer to a choice of auto shows its effect, also when the trial of the sandbox ended between the
// choice and the wait for it.
func TestModes_DecidedBeforeTheWait(t *testing.T) {
	probe, release := trial("", sandbox.Landlock)
	s, _ := openIn(t, permissions.ModeAsk, probe, "{}")
	if err := s.SetMode("auto"); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := probe.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Decide(t.Context(), session.ModeOption, "auto"); err != nil || s.Mode() != "auto" {
		t.Errorf("the mode is %s, %v", s.Mode(), err)
	}
}
