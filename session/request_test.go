package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/websearch"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// The system text and the built-in tools take at most 12 KB of a small window and 16 KB of
// another, in a directory full of long names too. Extension tools are named alone (R87,
// R138).
func TestFirstRequest_Small(t *testing.T) {
	for _, tt := range []struct {
		name         string
		window, most int
		brief        bool
	}{
		{name: "8k", window: 8_192, most: 12 << 10, brief: true},
		{name: "under 64k", window: 63_999, most: 12 << 10, brief: true},
		{name: "64k", window: 64_000, most: 16 << 10},
		{name: "unknown", most: 16 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			system, tools := firstRequest(t, tt.window)
			t.Logf("%d bytes of system text, %d of tools", len(system), len(tools))
			if sum := len(system) + len(tools); sum > tt.most {
				t.Errorf("%d bytes, want at most %d:\n%s", sum, tt.most, system)
			}
			if brief := !strings.Contains(system, "More about git"); brief != tt.brief {
				t.Errorf("the brief prompt: %v, want %v:\n%s", brief, tt.brief, system)
			}
			for _, tool := range builtin.All() {
				id := tool.ID
				named := strings.Contains(tools, `"name":"`+id+`"`)
				if locked := slices.Contains(kinds.Locked(), id); named != locked {
					t.Errorf("%s is in the request: %v, want %v", id, named, locked)
				}
			}
		})
	}
}

// windowed is a provider whose models have a known window; 0 means that it is not known.
type windowed struct {
	model.Provider
	window int
}

func (w windowed) Describe(ctx context.Context, id string) model.Info {
	info := w.Provider.Describe(ctx, id)
	info.Window = w.window
	return info
}

// firstRequest returns what the first request of a session has of system text and tools.
func firstRequest(t *testing.T, window int) (system, catalogue string) {
	t.Helper()
	server := modeltest.New(t, modeltest.Step{Text: "hello"})
	provider, err := openai.New(openai.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	answers := filepath.Join(t.TempDir(), "search.json")
	if err := os.WriteFile(answers, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	search, err := websearch.New(websearch.Config{Type: websearch.Scripted, File: answers})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.Options{Search: []websearch.Provider{search}}.All()...)
	if err != nil {
		t.Fatal(err)
	}
	cwd := t.TempDir()
	skill := filepath.Join(cwd, ".agents", "skills", "greet", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(skill), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(skill, []byte("---\nname: greet\ndescription: d\n---\nHello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		name := filepath.Join(cwd, fmt.Sprintf("%03d-%s", i, strings.Repeat("long", 20)))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := &session.Host{
		Backend: func() (session.Backend, error) {
			return session.Backend{Provider: windowed{provider, window}, Model: "m"}, nil
		},
		IDs: &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits(), Offering: session.Offering{Threshold: 20, ListedSize: 4 << 10}, Subagents: session.Subagents{Depth: 2}}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
	opened, err := host.Open(t.Context(), session.Spec{Cwd: cwd, Client: session.Client{Sink: newRecorder(), Questions: noAnswers{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close(0)
		host.Close()
	})
	turn := opened.Prompt([]transcript.Part{&transcript.TextPart{Text: "hello"}})
	if _, err := turn.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn.Release()
	var body struct {
		Messages []struct{ Content json.RawMessage }
		Tools    json.RawMessage
	}
	if err := json.Unmarshal([]byte(chatBody(t, server.Requests())), &body); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body.Messages[0].Content, &system); err != nil {
		t.Fatal(err)
	}
	return system, string(body.Tools)
}

// noAnswers is a user whom the test must not ask anything.
type noAnswers struct{ tools.Questioner }

func chatBody(t *testing.T, requests []modeltest.Request) string {
	t.Helper()
	for _, request := range requests {
		if strings.Contains(string(request.Body), `"messages"`) {
			return string(request.Body)
		}
	}
	t.Fatalf("no chat request among %d", len(requests))
	return ""
}
