package v1

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/session"
	"acp-agent/transcript"
)

// recorder is an editor that records every update and when it arrived.
type recorder struct {
	t     *testing.T
	start time.Time
	also  []string // sessions of subagents that updates may name

	mu      sync.Mutex
	updates []noted
	sent    int64
	written *int64 // how many of them are written; nil while the editor reads
}

// Position implements notifier; it counts updates instead of bytes.
func (r *recorder) Position() (sent, written int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written != nil {
		return r.sent, *r.written
	}
	return r.sent, r.sent
}

// pause makes the editor stop reading until resume.
func (r *recorder) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = new(int64)
	*r.written = r.sent
}

func (r *recorder) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = nil
}

type noted struct {
	at      time.Duration
	session string
	text    string // of a chunk of text or thought
	json    string // the whole update
}

// Notify implements notifier.
func (r *recorder) Notify(method string, params any) error {
	note, ok := params.(*schema.SessionNotification)
	if method != schema.MethodSessionUpdate || !ok || note.SessionID != "ses_1" && !slices.Contains(r.also, string(note.SessionID)) {
		r.t.Errorf("notification %s %T", method, params)
		return nil
	}
	raw, err := json.Marshal(note.Update)
	if err != nil {
		r.t.Errorf("update %T: %v", note.Update, err)
	}
	n := noted{at: time.Since(r.start), session: string(note.SessionID), json: string(raw)}
	switch update := note.Update.(type) {
	case schema.AgentMessageChunk:
		n.text = update.Content.(schema.TextContent).Text
	case schema.AgentThoughtChunk:
		n.text = update.Content.(schema.TextContent).Text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.updates = append(r.updates, n)
	r.sent++
	return nil
}

// take returns the updates since the last take.
func (r *recorder) take() []noted {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.updates
	r.updates = nil
	return taken
}

// freshID matches the id of a new message.
var freshID = regexp.MustCompile(`msg_[0-9a-z]{26}`)

// lines are the updates since the last take, as JSON, with msg_new for the ids of new messages.
func (r *recorder) lines() []string {
	var lines []string
	for _, n := range r.take() {
		lines = append(lines, freshID.ReplaceAllString(n.json, "msg_new"))
	}
	return lines
}

// fakeView is a sessionView whose values a test sets.
type fakeView struct {
	mode     func() string
	options  func() []schema.SessionConfigOption
	commands func() []session.Command
	sandbox  func() map[string]any
	over     func() bool
}

func newFakeView() *fakeView {
	return &fakeView{
		mode:     func() string { return "code" },
		options:  func() []schema.SessionConfigOption { return []schema.SessionConfigOption{} },
		commands: func() []session.Command { return nil },
		sandbox:  func() map[string]any { return nil },
		over:     func() bool { return false },
	}
}

func (v *fakeView) Mode() string                                { return v.mode() }
func (v *fakeView) Commands() []session.Command                 { return v.commands() }
func (v *fakeView) configOptions() []schema.SessionConfigOption { return v.options() }
func (v *fakeView) metaSandbox() map[string]any                 { return v.sandbox() }
func (v *fakeView) ended() bool                                 { return v.over() }

// inTurn runs a test within a turn of a session, in a synctest bubble.
func inTurn(t *testing.T, c client, run func(t *testing.T, tr *translator, r *recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{t: t, start: time.Now()}
		tr := newTranslator(r, c)
		tr.out.session, tr.state.session = "ses_1", newFakeView()
		tr.promptReceived()
		tr.Emit(transcript.TurnStarted{TurnID: "trn_1", MessageID: "msg_1"})
		run(t, tr, r)
		tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
		tr.promptAnswered()
		r.take()
		time.Sleep(time.Minute)
		if late := r.lines(); late != nil {
			t.Errorf("after the end of the turn: %q", late)
		}
	})
}

// startBash starts a call of bash.
func startBash(emit func(transcript.Event)) {
	emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "call_1", Name: "Bash", Tool: "bash", Card: label("bash")})
	emit(transcript.ToolReady{
		CallID: "call_1", Tool: "bash", Input: `{"cmd":"make"}`, Args: []byte(`{"cmd":"make","cwd":"/w"}`),
		Card: kinds.Card{Kind: kinds.Execute, Title: "make"},
	})
	emit(transcript.ToolState{CallID: "call_1", State: transcript.InProgress})
}

// endBash ends that call.
func endBash(emit func(transcript.Event), state transcript.State, text, data string) {
	result := transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(data)}
	if state != transcript.Done {
		result = transcript.Envelope{Type: transcript.Error, ErrorText: text}
	}
	emit(transcript.ToolFinished{
		CallID: "call_1", State: state, Text: text, Result: result, Card: kinds.Card{Kind: kinds.Execute, Title: "make"},
	})
}
