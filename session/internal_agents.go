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

// The internal agents, which no user talks to (R72). They have no tools.
const (
	titleAgent      = "title"
	summaryAgent    = "summary"    // of /summary
	compactionAgent = "compaction" // sums up a conversation for the model (R139)
)

// runInternalAgent gives a text to an internal agent, outside the conversation, and returns its answer.
// Its usage is counted with the main agent.
func (a *assembler) runInternalAgent(ctx context.Context, name, text string) (string, error) {
	m, ok := a.agents.manifests().Get(name)
	if !ok {
		return "", fmt.Errorf("there is no agent %s", name)
	}
	return a.askInternalAgent(ctx, m, cmp.Or(m.Model, a.choices.get().model), text, a.conversation.account.add)
}

// askInternalAgent gives a text to a model in the role of an internal agent. charge is called with the
// usage of each step.
func (a *assembler) askInternalAgent(ctx context.Context, m subagent.Manifest, id, text string, charge func(string, *transcript.Usage)) (string, error) {
	backend, err := a.host.Backend()
	if err != nil {
		return "", err
	}
	if err := backend.usable(id); err != nil {
		return "", err
	}
	o := a.pipelineOptions(a.agents.tools.Cache)
	o.Gate = tools.Gate{IncludeTools: []string{}}
	log := transcript.NewLog()
	sink := func(e transcript.Event) {
		if step, ok := e.(transcript.StepFinished); ok {
			charge(id, step.Usage)
		}
	}
	window := func() int { return backend.Provider.Describe(ctx, id).Window }
	stop, err := loop.New(loop.Options{
		Provider: backend.Provider, Tools: pipeline.New(o), Log: log, Sink: transcript.SinkFunc(sink), IDs: a.host.IDs,
		System: m.System(subagent.Environment{}), Model: id, Temperature: m.Limits.Temperature, MaxTokens: longestAnswer(m, window()),
		Window: window, MaxSteps: cmp.Or(m.Limits.Cycles, 1),
		Memo: &model.Memo{}, Tape: a.host.Tape, Tracer: a.host.Tracer,
	}).Turn(ctx, &transcript.Message{
		ID: a.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(),
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

// leastAnswer is how many tokens an internal agent may answer with in the smallest window.
const leastAnswer = 512

// longestAnswer is how many tokens an internal agent may answer with: its limit, but no more than a
// quarter of the window. 0 means any number.
func longestAnswer(m subagent.Manifest, window int) int {
	most := m.Limits.MaxTokens
	if window <= 0 || most == 0 {
		return most
	}
	return min(most, max(window/4, leastAnswer))
}

// conversationBytes bounds how much of a conversation an internal agent reads.
const conversationBytes = 48 << 10

// conversationText is a conversation as text: what each side said, and which tools were called. The middle of a
// conversation that is too long is left out.
func conversationText(messages []*transcript.Message) string {
	var b strings.Builder
	for _, m := range messages {
		speaker := "Agent"
		if m.Role == transcript.User {
			speaker = "Person"
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case *transcript.TextPart:
				if text := strings.TrimSpace(part.Text); text != "" && (!part.Synthetic || m.Compaction != nil) {
					fmt.Fprintf(&b, "%s: %s\n", speaker, text)
				}
			case *transcript.ToolPart:
				fmt.Fprintf(&b, "Tool: %s (%s)\n", part.Card.Title, part.State)
			}
		}
	}
	text := b.String()
	if len(text) <= conversationBytes {
		return text
	}
	half := conversationBytes / 2
	return strings.ToValidUTF8(text[:half], "") + "\n[…]\n" + strings.ToValidUTF8(text[len(text)-half:], "")
}

// summaryCommand is /summary.
func summaryCommand(ctx context.Context, a *assembler) string {
	said := conversationText(a.conversation.log.Messages())
	if said == "" {
		return "Nothing was said in this session yet.\n"
	}
	text, err := a.runInternalAgent(ctx, summaryAgent, said)
	if err != nil {
		return "There is no summary: " + kinds.Visible(err.Error()) + ".\n"
	}
	return text + "\n"
}
