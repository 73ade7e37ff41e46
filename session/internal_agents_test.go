package session

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/skills"
	"acp-agent/transcript"
)

// newTestAssembler returns an assembler whose model server answers as scripted.
func newTestAssembler(t *testing.T, answers string) (*assembler, *parts) {
	t.Helper()
	p := newParts(t, Settings{}, nil)
	loaded, err := script.Load("test", strings.NewReader(answers))
	if err != nil {
		t.Fatal(err)
	}
	backend := Backend{Provider: loaded.Provider(script.Options{}), Model: "script", Check: func(id string) error {
		if id == "gone" {
			return errNoServer
		}
		return nil
	}}
	p.host.Logger = slog.New(slog.DiscardHandler)
	p.host.Backend = func() (Backend, error) { return backend, nil }
	p.life = newLifetime(t.Context(), nil)
	s, _ := newTestSources(t, p)
	c, _ := newTestChoices(t, permissions.ModeAsk, sandbox.None)
	a := &assembler{
		opened: p.opened, conversation: p.conversation, choices: c, sources: s, agents: p.agents(t),
		rules:    &ruleBook{policy: p.project.policy, project: p.project, below: newAgentPolicies()},
		briefing: &briefing{opened: p.opened, context: systemContext{skills: &skills.Library{}}},
	}
	a.agents.manifest = p.host.Manifest
	return a, p
}

// R72: an internal agent answers outside the conversation, and what that costs counts with the main
// agent.
func TestAssembler_InternalAgent(t *testing.T) {
	a, p := newTestAssembler(t, `{"say":" A title. \n","usage":{"input":7,"output":3}}`)
	text, err := a.runInternalAgent(t.Context(), titleAgent, "what was said")
	if text != "A title." || err != nil {
		t.Errorf("it says %q, %v", text, err)
	}
	if tokens, _ := p.conversation.account.now(); tokens.Input != 7 || tokens.Output != 3 {
		t.Errorf("counted: %+v", tokens)
	}
	if len(p.conversation.log.Record()) != 0 || len(p.shown) != 0 {
		t.Errorf("the conversation holds %d messages, the client was shown %+v", len(p.conversation.log.Record()), p.shown)
	}
	if _, err := a.runInternalAgent(t.Context(), "unknown", "text"); err == nil {
		t.Error("an agent that is not there has answered")
	}
}

// An answer without text is an error, and so is a model that the server cannot use.
func TestAssembler_InternalAgentFails(t *testing.T) {
	a, _ := newTestAssembler(t, `{"say":" "}`)
	if text, err := a.runInternalAgent(t.Context(), titleAgent, "text"); err == nil {
		t.Errorf("it says %q", text)
	}
	m, _ := a.agents.manifests().Get(titleAgent)
	if _, err := a.askInternalAgent(t.Context(), m, "gone", "text", func(string, *transcript.Usage) {}); err == nil {
		t.Error("a model that is gone has answered")
	}
}

// R139: the model that the user chose for summaries writes them, and the conversation's own when it
// cannot.
func TestAssembler_Writers(t *testing.T) {
	for _, tt := range []struct {
		model string
		want  []string
	}{{"", []string{"own"}}, {"own", []string{"own"}}, {"large", []string{"large", "own"}}} {
		a, p := newTestAssembler(t, `{"say":"done"}`)
		p.manifest(t, compactionAgent, "---\nname: compaction\ndescription: Sums up.\nmode: subagent\nhidden: true\nmodel: "+tt.model+"\n---\nSum up.\n")
		backend, _ := p.host.Backend()
		var got []string
		for _, writer := range a.writers(backend, "own", p.conversation.account.add) {
			got = append(got, writer.Model)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("with the model %q: %q, want %q", tt.model, got, tt.want)
		}
	}
}
