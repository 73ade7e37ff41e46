package session

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"acp-agent/transcript"
)

// newTestConversation returns a conversation and the events that it has passed to the client.
func newTestConversation() (c *conversation, events *[]transcript.Event) {
	events = new([]transcript.Event)
	return newConversation(conversationOptions{
		sessionID: "ses", ids: &transcript.IDs{}, watch: func(transcript.Event) {}, archive: newArchive("ses", slog.New(slog.DiscardHandler)),
		sink: transcript.SinkFunc(func(e transcript.Event) { *events = append(*events, e) }),
	}, &account{}), events
}

// The warning about a full window follows the event that it is about.
func TestConversation_WarnsAfterTheUsage(t *testing.T) {
	c, events := newTestConversation()
	c.emit(transcript.UsageChanged{Used: 95, Size: 100})
	if len(*events) != 2 {
		t.Fatalf("events = %v", *events)
	}
	_, usage := (*events)[0].(transcript.UsageChanged)
	notice, warned := (*events)[1].(transcript.Notice)
	if !usage || !warned || notice.Severity != transcript.Warning {
		t.Errorf("events = %v", *events)
	}
}

// Only a prompt from before the questions is marked; the first one after them answers them.
func TestConversation_MarksEarlyPrompts(t *testing.T) {
	c, _ := newTestConversation()
	prompt := func(at time.Time) *transcript.Message { return &transcript.Message{Created: at} }
	queued := prompt(time.Now())
	c.markEarly(queued)
	if len(queued.Parts) != 0 {
		t.Error("a prompt was marked although nothing was asked")
	}
	time.Sleep(time.Millisecond) // for the clock to differ
	c.emit(transcript.ToolFinished{EndsTurn: true})
	c.markEarly(queued)
	if len(queued.Parts) != 1 {
		t.Error("the prompt that came before the questions was not marked")
	}
	answer := prompt(time.Now().Add(time.Second))
	c.markEarly(answer)
	c.markEarly(queued) // the questions are answered
	if len(answer.Parts) != 0 || len(queued.Parts) != 1 {
		t.Errorf("the answer has %d marks, the early prompt %d", len(answer.Parts), len(queued.Parts))
	}
}

func TestConversation_Clear(t *testing.T) {
	c, events := newTestConversation()
	c.record(transcript.UserSaid{Message: &transcript.Message{ID: "msg_1", Role: transcript.User}})
	c.record(transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "one"}}})
	c.emit(transcript.UsageChanged{Used: 10, Size: 100})
	*events = nil
	if text := c.clear(); !strings.Contains(text, "new conversation") {
		t.Errorf("answer = %q", text)
	}
	if n := len(c.log.Messages()); n != 0 {
		t.Errorf("the model still sees %d messages", n)
	}
	if n := len(c.log.Record()); n == 0 {
		t.Error("the record is gone")
	}
	if len(c.log.Memory().Plan) != 0 {
		t.Error("the plan is still there")
	}
	if usage, ok := (*events)[len(*events)-1].(transcript.UsageChanged); !ok || usage.Used != 0 || usage.Size != 100 {
		t.Errorf("the client was sent %v last", (*events)[len(*events)-1])
	}
}
