package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/kinds"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// agentTree is a session whose agents do what a loop may make them do, in any order.
type agentTree struct {
	*rapid.T
	tr     *translator
	log    *wire
	now    time.Time
	next   int
	agents []*agent // the main agent first
	ended  bool     // the turn
}

// agent is one agent of a tree.
type agent struct {
	name   string
	parent *agent
	path   []string // the calls from the main agent down to it
	child  *transcript.Child
	calls  []string // its open calls, except calls that spawn agents
	// answered says that the call of a background agent was answered, and gone that the agent
	// has ended.
	background, answered, gone bool
}

// wire records what a client would read, in the form that acptest.Check reads.
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

func (f *agentTree) id(what string) string {
	f.next++
	return fmt.Sprintf("%s_%d", what, f.next)
}

// alive draws an agent that still works. After the turn, these are the background agents and
// those below them.
func (f *agentTree) alive() *agent {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(f.agents), func(k *agent) bool {
		return k.gone || f.ended && !k.outlives()
	})).Draw(f.T, "agent")
}

func (k *agent) outlives() bool {
	for ; k != nil; k = k.parent {
		if k.background && k.answered {
			return true
		}
	}
	return false
}

func (k *agent) emit(f *agentTree) func(transcript.Event) { return within(f.tr, k.path...) }

func (f *agentTree) start(k *agent) {
	if k.parent == nil && f.ended {
		return
	}
	id, tool := f.id("call"), rapid.SampledFrom([]string{"read", "bash", "edit"}).Draw(f.T, "tool")
	k.calls = append(k.calls, id)
	emit := k.emit(f)
	emit(transcript.ToolStarted{MessageID: "m", CallID: id, Name: tool, Tool: tool, Card: label(tool)})
	if rapid.Bool().Draw(f.T, "ready") {
		emit(transcript.ToolReady{CallID: id, Tool: tool, Args: []byte(`{"cmd":"x"}`), Card: kinds.Card{Kind: builtin.Kind(tool), Title: "do " + id}})
		emit(transcript.ToolState{CallID: id, State: transcript.InProgress})
		emit(transcript.ToolOutput{CallID: id, Text: id})
	}
}

func (f *agentTree) finish(k *agent) {
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

func (f *agentTree) spawn(k *agent) {
	if len(k.path) == 4 || k.parent == nil && f.ended {
		return
	}
	child := &agent{name: f.id("agent"), parent: k, background: rapid.Bool().Draw(f.T, "background")}
	call := f.id("call")
	child.path = append(slices.Clone(k.path), call)
	child.child = transcript.NewChild(transcript.ChildRecord{ID: f.id("ses"), CallID: call, Agent: child.name, Path: []string{child.name}, Background: child.background}, nil)
	f.agents = append(f.agents, child)
	emit := k.emit(f)
	emit(transcript.ToolStarted{MessageID: "m", CallID: call, Name: "task", Tool: "task", Card: label("task")})
	emit(transcript.ToolReady{CallID: call, Tool: "task", Args: fmt.Appendf(nil, `{"background":%t}`, child.background), Card: kinds.Card{Kind: kinds.Other, Title: call}})
	emit(transcript.ChildStarted{CallID: call, Child: child.child})
}

// pass advances the clock, and fires the timer if it is due.
func (f *agentTree) pass(d time.Duration) {
	f.now = f.now.Add(d)
	if due := f.tr.out.due; !due.IsZero() && !due.After(f.now) {
		f.tr.tick()
	}
}

func (k *agent) call() string { return k.path[len(k.path)-1] }

func (f *agentTree) card(k *agent) {
	if k.parent != nil {
		k.parent.emit(f)(transcript.ToolCard{CallID: k.call(), Content: []kinds.Content{kinds.Text{Text: f.id("card")}}})
	}
}

func (f *agentTree) answer(k *agent) {
	if k.parent != nil && k.background && !k.answered {
		k.answered = true
		k.parent.emit(f)(transcript.ToolFinished{CallID: k.call(), State: transcript.Done, Background: true})
	}
}

// end ends an agent: first its calls, then the agents that it waits for. Its background agents
// continue.
func (f *agentTree) end(k *agent) {
	for len(k.calls) > 0 {
		f.finish(k)
	}
	for _, other := range f.agents {
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

func (f *agentTree) endTurn() {
	if f.ended {
		return
	}
	f.end(f.agents[0])
	f.tr.Emit(transcript.TurnFinished{TurnID: "trn_1", Reason: "finish"})
	f.ended = true
	f.log.add(true, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`)
}

// Whatever subagents do, and in whatever order, the updates keep the rules of every run: each
// call opens once, ends once, has one parent, and sends nothing after its end; after the end of
// the turn only calls of background agents send anything (R70, R125, R153).
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
				f := &agentTree{T: rt, log: &wire{}, agents: []*agent{{name: "main"}}}
				f.log.add(false, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":`+said.offers+`}}`)
				f.log.add(true, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
				f.log.add(false, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
				f.log.add(true, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"ses_1"}}`)
				f.log.add(false, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"ses_1","prompt":[]}}`)
				f.tr = newTranslator(f.log, said.client)
				f.tr.out.now = func() time.Time { return f.now }
				f.tr.out.timer = time.NewTimer(time.Hour) // pass is the clock
				f.tr.out.session, f.tr.state.session = "ses_1", newFakeView()
				turn := rapid.IntRange(0, 40).Draw(rt, "turn")
				for i := range rapid.IntRange(0, 60).Draw(rt, "steps") {
					if i == turn {
						f.endTurn()
					}
					if f.ended && !slices.ContainsFunc(f.agents, func(k *agent) bool { return !k.gone && k.outlives() }) {
						break
					}
					step := rapid.SampledFrom([]func(*agent){f.start, f.start, f.finish, f.spawn, f.card, f.card, f.answer, func(*agent) {
						f.pass(time.Duration(rapid.IntRange(1, 300).Draw(rt, "ms")) * time.Millisecond)
					}, func(k *agent) {
						if k.parent != nil {
							f.end(k)
						}
					}}).Draw(rt, "step")
					step(f.alive())
				}
				f.endTurn()
				for _, k := range f.agents[1:] {
					if !k.gone {
						f.end(k)
					}
				}
				f.pass(time.Minute)
				if problems := acptest.Check(f.log.lines, true); len(problems) > 0 {
					rt.Fatalf("%s", strings.Join(problems, "\n"))
				}
				if n := len(f.tr.cards.calls) + len(f.tr.cards.children); n > 0 {
					rt.Fatalf("%d views are kept", n)
				}
			})
		})
	}
}
