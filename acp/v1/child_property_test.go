package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"acp-agent/acp/schema"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// family is a session whose agents do what a loop may make them do, in any order.
type family struct {
	*rapid.T
	tr    *translator
	log   *wire
	now   time.Time
	next  int
	kin   []*kin // all of them, the main agent first
	ended bool   // the turn
}

// kin is one agent of a family.
type kin struct {
	name   string
	parent *kin
	path   []string // the calls that lead to it
	child  *transcript.Child
	calls  []string // its calls that are open, of those that spawn none
	// answered says of one in the background that its call was answered, gone of any that
	// it has ended.
	background, answered, gone bool
}

// wire notes what a client would read, in a form that the rules for every run apply to.
type wire struct{ lines []acptest.Line }

func (w *wire) Position() (sent, written int64) { return 0, 0 }

func (w *wire) Notify(method string, params any) error {
	raw, err := json.Marshal(params)
	if err == nil {
		w.add(true, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, raw))
	}
	return err
}

func (w *wire) add(fromAgent bool, raw string) {
	m, err := acptest.Parse([]byte(raw))
	if err != nil {
		panic(err) // the test's own mistake
	}
	w.lines = append(w.lines, acptest.Line{FromAgent: fromAgent, Raw: raw, Message: m})
}

func (f *family) id(what string) string {
	f.next++
	return fmt.Sprintf("%s_%d", what, f.next)
}

// alive draws an agent that still works: behind the turn's end, only those in the background
// and below them do.
func (f *family) alive() *kin {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(f.kin), func(k *kin) bool {
		return k.gone || f.ended && !k.outlives()
	})).Draw(f.T, "agent")
}

func (k *kin) outlives() bool {
	for ; k != nil; k = k.parent {
		if k.background && k.answered {
			return true
		}
	}
	return false
}

func (k *kin) emit(f *family) func(transcript.Event) { return within(f.tr, k.path...) }

func (f *family) start(k *kin) {
	if k.parent == nil && f.ended {
		return
	}
	id, tool := f.id("call"), rapid.SampledFrom([]string{"read", "bash", "edit"}).Draw(f.T, "tool")
	k.calls = append(k.calls, id)
	emit := k.emit(f)
	emit(transcript.ToolStarted{MessageID: "m", CallID: id, Name: tool, Tool: tool})
	if rapid.Bool().Draw(f.T, "ready") {
		emit(transcript.ToolReady{CallID: id, Tool: tool, Args: []byte(`{"cmd":"x"}`), Card: kinds.Card{Kind: kinds.Of(tool), Title: "do " + id}})
		emit(transcript.ToolState{CallID: id, State: transcript.InProgress})
		emit(transcript.ToolOutput{CallID: id, Text: id})
	}
}

func (f *family) finish(k *kin) {
	if len(k.calls) == 0 {
		return
	}
	id := k.calls[0]
	k.calls = k.calls[1:]
	state := rapid.SampledFrom([]transcript.State{transcript.Done, transcript.Failed, transcript.Cancelled}).Draw(f.T, "state")
	end := transcript.ToolFinished{CallID: id, State: state, Text: "end of " + id, Card: kinds.Card{Kind: kinds.Read, Title: "did " + id}}
	k.emit(f)(end)
	if rapid.Bool().Draw(f.T, "twice") {
		k.emit(f)(end)
	}
}

func (f *family) spawn(k *kin) {
	if len(k.path) == 4 || k.parent == nil && f.ended {
		return
	}
	born := &kin{name: f.id("agent"), parent: k, background: rapid.Bool().Draw(f.T, "background")}
	call := f.id("call")
	born.path = append(slices.Clone(k.path), call)
	born.child = transcript.NewChild(transcript.ChildRecord{ID: f.id("ses"), CallID: call, Agent: born.name, Path: []string{born.name}, Background: born.background}, nil)
	f.kin = append(f.kin, born)
	emit := k.emit(f)
	emit(transcript.ToolStarted{MessageID: "m", CallID: call, Name: "task", Tool: "task"})
	emit(transcript.ToolReady{CallID: call, Tool: "task", Args: fmt.Appendf(nil, `{"background":%t}`, born.background), Card: kinds.Card{Kind: kinds.Other, Title: call}})
	emit(transcript.ChildStarted{CallID: call, Child: born.child})
}

// pass lets time go by, and the timer fire if it would.
func (f *family) pass(d time.Duration) {
	f.now = f.now.Add(d)
	if due := f.tr.due; !due.IsZero() && !due.After(f.now) {
		f.tr.tick()
	}
}

func (k *kin) call() string { return k.path[len(k.path)-1] }

func (f *family) card(k *kin) {
	if k.parent != nil {
		k.parent.emit(f)(transcript.ToolCard{CallID: k.call(), Content: []kinds.Content{kinds.Text{Text: f.id("card")}}})
	}
}

func (f *family) answer(k *kin) {
	if k.parent != nil && k.background && !k.answered {
		k.answered = true
		k.parent.emit(f)(transcript.ToolFinished{CallID: k.call(), State: transcript.Done, Background: true})
	}
}

// end has an agent end: its calls first, then those that it waits for. Those that it left
// in the background go on.
func (f *family) end(k *kin) {
	for len(k.calls) > 0 {
		f.finish(k)
	}
	for _, other := range f.kin {
		if other.parent == k && !other.gone {
			if f.answer(other); !other.background {
				f.end(other)
			}
		}
	}
	if k.parent == nil || k.gone {
		return
	}
	k.gone = true
	k.child.Update(func(r *transcript.ChildRecord) {
		r.State = rapid.SampledFrom([]transcript.ChildState{transcript.ChildDone, transcript.ChildFailed, transcript.ChildLost}).Draw(f.T, "end")
	})
	emit := k.parent.emit(f)
	emit(transcript.ChildFinished{CallID: k.call(), Child: k.child, Card: kinds.Card{Content: []kinds.Content{kinds.Text{Text: f.id("end")}}}})
	if !k.background {
		emit(transcript.ToolFinished{CallID: k.call(), State: transcript.Done})
	}
	f.answer(k)
	f.card(k)
}

func (f *family) endTurn() {
	if f.ended {
		return
	}
	f.end(f.kin[0])
	f.tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
	f.ended = true
	f.log.add(true, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
}

// Whatever subagents do, and in whatever order, what the editor sees keeps the rules of
// every run: each call opens once, ends once, has one parent, and is silent behind its end;
// behind the end of the turn there are only those of the background (R70, R125, R153).
func TestChild_AnyOrder(t *testing.T) {
	for name, said := range map[string]struct {
		client client
		offers string
	}{
		"plain":                {client{}, `{}`},
		"terminals of ours":    {agentTerminals, `{"_meta":{"terminal_output":true}}`},
		"sessions of children": {client{subagents: true}, `{"subagents":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				f := &family{T: rt, log: &wire{}, kin: []*kin{{name: "main"}}}
				f.log.add(false, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":`+said.offers+`}}`)
				f.log.add(true, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
				f.log.add(false, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
				f.log.add(true, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"ses_1"}}`)
				f.log.add(false, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"ses_1","prompt":[]}}`)
				f.tr = newTranslator(f.log, said.client)
				f.tr.now = func() time.Time { return f.now }
				f.tr.timer = time.NewTimer(time.Hour) // pass is the clock
				f.tr.session, f.tr.options = "ses_1", func() []schema.SessionConfigOption { return nil }
				turn := rapid.IntRange(0, 40).Draw(rt, "turn")
				for i := range rapid.IntRange(0, 60).Draw(rt, "steps") {
					if i == turn {
						f.endTurn()
					}
					if f.ended && !slices.ContainsFunc(f.kin, func(k *kin) bool { return !k.gone && k.outlives() }) {
						break
					}
					step := rapid.SampledFrom([]func(*kin){f.start, f.start, f.finish, f.spawn, f.card, f.card, f.answer, func(*kin) {
						f.pass(time.Duration(rapid.IntRange(1, 300).Draw(rt, "ms")) * time.Millisecond)
					}, func(k *kin) {
						if k.parent != nil {
							f.end(k)
						}
					}}).Draw(rt, "step")
					step(f.alive())
				}
				f.endTurn()
				for _, k := range f.kin[1:] {
					if !k.gone {
						f.end(k)
					}
				}
				f.pass(time.Minute)
				if problems := acptest.Check(f.log.lines, true); len(problems) > 0 {
					rt.Fatalf("%s", strings.Join(problems, "\n"))
				}
				if n := len(f.tr.calls) + len(f.tr.children); n > 0 {
					rt.Fatalf("%d views are kept", n)
				}
			})
		})
	}
}
