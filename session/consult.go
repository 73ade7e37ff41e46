package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// The agents that the host itself asks (R72). They have no tools.
const (
	titleAgent   = "title"
	summaryAgent = "summary"
)

// consult asks one of the host's own agents about a text, outside of the conversation,
// and returns what it answers. What that costs is the main agent's.
func (s *Session) consult(ctx context.Context, name, text string) (string, error) {
	m, ok := s.Agents().Get(name)
	if !ok {
		return "", fmt.Errorf("there is no agent %s", name)
	}
	backend, err := s.host.Backend()
	if err != nil {
		return "", err
	}
	o := s.pipelineOptions(s.tools.Cache)
	o.Gate = tools.Gate{IncludeTools: []string{}}
	log, id := transcript.NewLog(), cmp.Or(m.Model, s.choices.get().model)
	if err := backend.usable(id); err != nil {
		return "", err
	}
	charge := func(e transcript.Event) {
		if step, ok := e.(transcript.StepFinished); ok {
			s.mu.Lock()
			s.usage.add(id, step.Usage, s.settings.Subagents.Price)
			s.mu.Unlock()
		}
	}
	stop, err := loop.New(loop.Options{
		Provider: backend.Provider, Tools: pipeline.New(o), Log: log, Sink: transcript.SinkFunc(charge), IDs: s.host.IDs,
		System: m.System(subagent.Environment{}), Model: id, Temperature: m.Limits.Temperature, MaxTokens: m.Limits.MaxTokens,
		Window: func() int { return backend.Provider.Describe(ctx, id).Window }, MaxSteps: cmp.Or(m.Limits.Cycles, 1),
		Memo: &model.Memo{}, Tracer: s.host.Tracer,
	}).Turn(ctx, &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(),
		Parts: []transcript.Part{&transcript.TextPart{Text: kinds.Fence("text", text)}},
	})
	switch {
	case err != nil:
		return "", err
	case stop == loop.Cancelled:
		return "", context.Cause(ctx)
	}
	messages := log.Messages()
	answer := strings.TrimSpace(messages[len(messages)-1].Text())
	if answer == "" {
		return "", errors.New("the model said nothing")
	}
	return answer, nil
}

// recordBytes bounds what the host's own agents are told of a conversation.
const recordBytes = 48 << 10

// recordOf is a conversation as text: who said what, and which tools were called. Of one that
// is too long the middle is left out.
func recordOf(messages []*transcript.Message) string {
	var b strings.Builder
	for _, m := range messages {
		who := "Agent"
		if m.Role == transcript.User {
			who = "Person"
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case *transcript.TextPart:
				if text := strings.TrimSpace(part.Text); text != "" && !part.Synthetic {
					fmt.Fprintf(&b, "%s: %s\n", who, text)
				}
			case *transcript.ToolPart:
				fmt.Fprintf(&b, "Tool: %s (%s)\n", part.Card.Title, part.State)
			}
		}
	}
	text := b.String()
	if len(text) <= recordBytes {
		return text
	}
	half := recordBytes / 2
	return strings.ToValidUTF8(text[:half], "") + "\n[…]\n" + strings.ToValidUTF8(text[len(text)-half:], "")
}

// summaryCommand is /summary.
func (s *Session) summaryCommand(ctx context.Context) string {
	record := recordOf(s.log.Messages())
	if record == "" {
		return "Nothing was said in this session yet.\n"
	}
	text, err := s.consult(ctx, summaryAgent, record)
	if err != nil {
		return "There is no summary: " + kinds.Visible(err.Error()) + ".\n"
	}
	return text + "\n"
}

// retitle has the first turn named by a model, behind its answer, where the person chose
// one for that (R99): a request that nobody asked for is not made.
func (s *Session) retitle(t *Turn) {
	if s.settings.Subagents.Slots[titleAgent].Model == "" {
		return
	}
	s.mu.Lock()
	again := s.retitled
	s.retitled = true
	if !again {
		s.life.start(func() {
			select {
			case <-t.released:
				s.nameIt()
			case <-s.life.ctx.Done():
			}
		})
	}
	s.mu.Unlock()
}

func (s *Session) nameIt() {
	title, err := s.consult(s.life.ctx, titleAgent, recordOf(s.log.Messages()))
	if err != nil {
		s.host.Logger.Info("the session was not named", "session", s.ID, "error", err.Error())
		return
	}
	first, _, _ := strings.Cut(title, "\n")
	first = strings.Trim(first, "\"'` ")
	if title = kinds.Line(s.host.Keys.Known(first), titleRunes); title != "" {
		s.emit(transcript.TitleChanged{Title: title, At: time.Now()})
	}
}
