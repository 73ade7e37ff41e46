package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/modeltest"
	"acp-agent/loop"
	"acp-agent/model/openai"
	"acp-agent/session"
	"acp-agent/store"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// storedHost is the Host of one process over the same directories as those before it.
func storedHost(t *testing.T, dir, server string) *session.Host {
	t.Helper()
	provider, err := openai.New(openai.Options{BaseURL: server})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	return &session.Host{
		Backend: func() (session.Backend, error) {
			return session.Backend{Provider: provider, Model: "m"}, nil
		},
		IDs: &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(dir, "state")},
		Configuration: session.Configuration{
			Store: store.New(store.Options{Dir: filepath.Join(dir, "conversations")}),
			Configure: func(string) (session.Settings, error) {
				return session.Settings{Limits: tools.CanonicalLimits()}, nil
			},
		},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
}

// chats are the bodies of the requests for answers.
func chats(server *modeltest.Server) (bodies []string) {
	for _, request := range server.Requests() {
		if strings.Contains(string(request.Body), `"messages"`) {
			bodies = append(bodies, string(request.Body))
		}
	}
	return bodies
}

// A conversation that goes on in another process sends what it sent before, byte by byte, before
// what is new: the server has it in its cache (R138).
func TestResume_PrefixIsStable(t *testing.T) {
	server := modeltest.New(t, modeltest.Step{Text: "one"}, modeltest.Step{Text: "two"}, modeltest.Step{Text: "three"})
	dir, cwd := t.TempDir(), t.TempDir()
	id := ""
	for i, text := range []string{"first", "second", "third"} {
		host := storedHost(t, dir, server.URL)
		open := host.Open
		if id != "" {
			open = func(ctx context.Context, spec session.Spec) (*session.Session, error) {
				return host.Resume(ctx, id, spec)
			}
		}
		s, err := open(t.Context(), session.Spec{Cwd: cwd, Client: session.Client{Sink: newRecorder()}})
		if err != nil {
			t.Fatal(err)
		}
		id = s.ID
		wait(t, prompt(s, text), loop.EndTurn)
		// What the project looks like by now is not what the session saw when it began.
		if err := os.WriteFile(filepath.Join(cwd, text), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.Close(0)
		host.Close()
		bodies := chats(server)
		if len(bodies) != i+1 {
			t.Fatalf("%d requests after prompt %d", len(bodies), i+1)
		}
		if i == 0 {
			continue
		}
		before, now := messagesOf(t, bodies[i-1]), messagesOf(t, bodies[i])
		if !strings.HasPrefix(now, before) {
			t.Errorf("request %d does not begin as the one before:\n%s\n%s", i+1, before, now)
		}
	}
}

// messagesOf is a request up to the end of its messages, which stand last.
func messagesOf(t *testing.T, body string) string {
	t.Helper()
	rest, ok := strings.CutSuffix(body, `]}`)
	if !ok || !strings.Contains(rest, `"messages":[`) {
		t.Fatalf("no messages at the end of %.200s…%s", body, body[max(0, len(body)-200):])
	}
	return rest
}
