package session_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/model/modeltest"
	"acp-agent/model/openai"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// The whole first request stays under 12 KB with all thirteen locked tools, and
// extension tools are not in it (R87).
func TestFirstRequest_Small(t *testing.T) {
	server := modeltest.New(t, modeltest.Step{Text: "hello"})
	provider, err := openai.New(openai.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	host := &session.Host{
		Backend:  func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "m"}, nil },
		Registry: registry, Manifest: subagent.Main(), IDs: &transcript.IDs{}, StateDir: filepath.Join(t.TempDir(), "state"),
		Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits(), Threshold: 20}, nil
		},
		Secrets: func() []string { return nil },
	}
	opened, err := host.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Sink: newRecorder()})
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
	body := chatBody(t, server.Requests())
	const limit = 12_000
	t.Logf("the first request has %d bytes", len(body))
	if len(body) >= limit {
		t.Errorf("the first request has %d bytes, want less than %d", len(body), limit)
	}
	for _, id := range kinds.Known() {
		named := strings.Contains(body, `"name":"`+id+`"`)
		if locked := slices.Contains(kinds.Locked(), id); named != locked {
			t.Errorf("%s is in the request: %v, want %v", id, named, locked)
		}
	}
}

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
