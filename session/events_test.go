package session_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/observe"
	"acp-agent/model/script"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// yes allows everything once.
type yes struct{}

func (yes) Ask(context.Context, tools.PermissionRequest) (tools.Answer, error) {
	return tools.AllowOnce, nil
}

// R131, R161: a turn's events in their order; what is asked comes before the
// turn's end.
func TestBus_TurnEvents(t *testing.T) {
	loaded, err := script.Load("test", strings.NewReader(`{"call": [{"name": "write", "args": {"path": "a", "content": "x"}}]}
{"say": "done"}`))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	bus := observe.New(nil)
	var got []string
	bus.Subscribe("test", func(e observe.Event) {
		text := e.Name
		if reason, ok := e.Fields[observe.FieldReason]; ok {
			text += " " + reason.(string)
		}
		if e.SessionID == "" || e.At.IsZero() {
			text += " without session or time"
		}
		got = append(got, text)
	})
	provider := loaded.Provider(script.Options{})
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "script"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits()}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }}, Observers: session.Observers{Bus: bus},
	}
	opened, err := host.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Client: session.Client{Sink: newRecorder(), Asker: yes{}}})
	if err != nil {
		t.Fatal(err)
	}
	turn := opened.Prompt([]transcript.Part{&transcript.TextPart{Text: "write"}})
	if _, err := turn.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn.Release()
	opened.Close(0)
	host.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := bus.Close(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{"turn-started", "tool:pre", "approval-requested", "tool:post", "turn-finished finish"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// R138: the sections of the system prompt stand in a fixed order.
func TestSystem_Order(t *testing.T) {
	prompt := subagent.Main().System(subagent.Environment{
		Cwd: "/w", Instructions: "INSTRUCTIONS", Skills: "SKILLS", OS: "linux", Date: time.Unix(0, 0).UTC(),
	})
	var at []int
	for _, part := range []string{"You are acp-agent", "INSTRUCTIONS", "SKILLS", "- Working directory: /w", "- Date: 1970-01-01"} {
		at = append(at, strings.Index(prompt, part))
	}
	if at[0] != 0 || !slices.IsSorted(at) {
		t.Errorf("the sections stand at %v", at)
	}
	if cwd := subagent.CwdOf(strings.Replace(prompt, "INSTRUCTIONS", "- Working directory: /evil", 1)); cwd != "/w" {
		t.Errorf("CwdOf gives %q", cwd)
	}
}
