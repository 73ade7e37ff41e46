package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"acp-agent/loop"
	"acp-agent/transcript"
)

var errNoServer = errors.New("no model server")

// newTestRunner returns what runs turns without a model server, with how often it saved.
func newTestRunner(t *testing.T) (r *turnRunner, p *parts, saved *int) {
	t.Helper()
	prompts, p := newTestReader(t, nil)
	p.host.Logger = slog.New(slog.DiscardHandler)
	p.host.Backend = func() (Backend, error) { return Backend{}, errNoServer }
	p.life = newLifetime(t.Context(), nil)
	p.conversation.naming = &naming{namingOptions: namingOptions{emit: p.conversation.emit, clean: func(text string) string { return text }}}
	c, _ := newTestChoices(t, "", "")
	saved = new(int)
	return &turnRunner{
		opened: p.opened, conversation: p.conversation, choices: c, project: p.project, sources: prompts.sources, prompts: prompts, agents: prompts.agents,
		notices: startupNotices{host: p.host, project: p.project, agents: prompts.agents, custom: prompts.custom, modes: c.modes},
		answer:  func(_ context.Context, c typedCommand) string { return "answer to " + c.name },
		save:    func() { *saved++ },
	}, p, saved
}

// finished are the reasons with which turns ended, as the client was told.
func (p *parts) finished() (reasons []string) {
	for _, e := range p.shown {
		if end, ok := e.(transcript.TurnFinished); ok {
			reasons = append(reasons, end.Reason)
		}
	}
	return reasons
}

func TestTurnRunner_Ends(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		cancelled  bool
		stop       loop.StopReason
		err        error
		said       []string // messages of the record
		seen       int      // messages that the model would see
	}{
		{name: "command", text: "/status", stop: loop.EndTurn, said: []string{"/status", "answer to status"}},
		{name: "cancelled while it waited", text: "go", cancelled: true, stop: loop.Cancelled, said: []string{"go"}, seen: 1},
		{name: "no server", text: "go", err: errNoServer, said: []string{"go"}, seen: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, p, saved := newTestRunner(t)
			turn := turnOf(t, &transcript.TextPart{Text: tt.text})
			if tt.cancelled {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				turn.ctx = ctx
			}
			stop, err := r.run(turn)
			if stop != tt.stop || !errors.Is(err, tt.err) {
				t.Errorf("it ended as %q, %v", stop, err)
			}
			var said []string
			for _, m := range p.conversation.log.Record() {
				said = append(said, m.Text())
			}
			if !slices.Equal(said, tt.said) || len(p.conversation.log.Messages()) != tt.seen {
				t.Errorf("the record holds %q, of which the model sees %d", said, len(p.conversation.log.Messages()))
			}
			if *saved != 2 {
				t.Errorf("saved %d times", *saved)
			}
		})
	}
}

// A report of a subagent is part of the conversation without a prompt, and waits for what it is
// about to be shown.
func TestTurnRunner_SyntheticMessage(t *testing.T) {
	r, p, _ := newTestRunner(t)
	shown := make(chan struct{})
	close(shown)
	report := &transcript.Message{ID: "msg_r", Role: transcript.User, Synthetic: true, Parts: []transcript.Part{&transcript.TextPart{Text: "It found two.", Synthetic: true}}}
	stop, err := r.run(&Turn{ctx: t.Context(), synthetic: &synthetic{message: report, text: "The search has finished.", after: shown}})
	if stop != loop.EndTurn || err != nil {
		t.Errorf("it ended as %q, %v", stop, err)
	}
	said, ok := p.shown[len(p.shown)-1].(transcript.AgentSaid)
	if !ok || !strings.Contains(said.Message.Typed(), "The search has finished.") || len(p.conversation.log.Messages()) != 1 {
		t.Errorf("the client was shown %+v", p.shown)
	}
}

// A panic ends the turn, and the client is told that it has ended.
func TestTurnRunner_Panic(t *testing.T) {
	r, p, saved := newTestRunner(t)
	r.answer = func(context.Context, typedCommand) string { panic("oh") }
	_, err := r.run(turnOf(t, &transcript.TextPart{Text: "/status"}))
	if err == nil || !strings.Contains(err.Error(), "failed inside the agent: oh") {
		t.Errorf("it ended with %v", err)
	}
	if reasons := p.finished(); !slices.Equal(reasons, []string{"error"}) || *saved != 2 {
		t.Errorf("the client was told %q; saved %d times", reasons, *saved)
	}
}
