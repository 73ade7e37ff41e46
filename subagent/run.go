package subagent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// start runs the subagent on a goroutine that ends with it. A subagent that is cancelled and
// does not end in time is closed by another goroutine.
func (n *Node) start(d tools.Delegation) {
	close(n.announced)
	unwatch := context.AfterFunc(n.ctx, n.closeLate)
	go func() { // counted in Tree.add
		defer n.tree.running.Done()
		end := n.run(d)
		unwatch()
		n.close(end)
	}()
}

// run runs the subagent to its end. A failure or panic ends this subagent only.
func (n *Node) run(d tools.Delegation) (end outcome) {
	defer func() {
		if v := recover(); v != nil {
			n.tree.Logger.Error("subagent panicked", "agent", strings.Join(n.names, "/"), "stack", string(debug.Stack()))
			end = failed(fmt.Errorf("the subagent failed inside the agent: %v", v))
		}
	}()
	if len(n.tree.slots) == cap(n.tree.slots) {
		n.showCard() // it says that the subagent waits
	}
	_ = n.slot.acquire(n.ctx) // fails if the agent is cancelled
	if n.isCancelled() {
		return n.cancelledOutcome()
	}
	equipment, err := n.tree.Equip(n, d)
	if err != nil {
		return failed(err)
	}
	if equipment.Release != nil {
		defer equipment.Release()
	}
	n.mu.Lock()
	n.tools, n.model = equipment.Tools, equipment.Model
	n.mu.Unlock()
	n.child.Update(func(r *transcript.ChildRecord) {
		if !r.State.Terminal() { // the subagent may be closed already
			r.State, r.Started, r.Model = transcript.ChildRunning, time.Now(), equipment.Model
		}
	})
	n.showCard()
	first := []transcript.Part{&transcript.TextPart{Text: d.Prompt}}
	if equipment.Remind != nil {
		first = append(first, equipment.Remind()...)
	}
	return n.turns(equipment, n.prompt(first...))
}

// turns runs one turn, and then one more for each time that reports of background subagents
// have come in.
func (n *Node) turns(e Equipment, prompt *transcript.Message) outcome {
	bounds := &bounds{node: n}
	l := loop.New(loop.Options{
		Provider: e.Provider, Tools: chargedTools{e.Tools, n.account}, Log: n.log, Sink: transcript.SinkFunc(n.show), IDs: n.tree.IDs,
		System: e.System, Model: e.Model, ThoughtLevel: e.ThoughtLevel, Temperature: e.Temperature, MaxTokens: e.MaxTokens,
		Window: e.Window, MaxSteps: cmp.Or(n.manifest.Limits.Cycles, e.MaxSteps), Concurrent: e.Concurrent, CacheKey: n.id, Memo: &model.Memo{},
		Remind: e.Remind, Continue: true, Halt: bounds.halt, Tape: e.Tape, Tracer: e.Tracer, NoticeAfter: e.NoticeAfter, Writers: e.Writers,
		Ending: n.isCancelled,
	})
	for {
		stop, err := l.Turn(n.ctx, prompt)
		switch {
		case err != nil:
			return failed(err)
		case stop == loop.Cancelled:
			return n.cancelledOutcome()
		case stop == loop.Refusal:
			return failed(errRefused)
		case stop != loop.EndTurn:
			return outcome{state: transcript.ChildDone, note: "it was stopped " + l.Why()}
		}
		if why := bounds.reached(); why != "" { // forwardReports sends unread reports upwards
			end := outcome{state: transcript.ChildDone}
			if !n.inbox.empty() {
				end.note = "it was stopped " + why
			}
			return end
		}
		reports := n.inbox.drain()
		if len(reports) == 0 {
			return outcome{state: transcript.ChildDone}
		}
		prompt = n.prompt(promptParts(reports)...)
	}
}

// bounds checks the limits of a subagent before each of its model calls.
type bounds struct {
	node   *Node
	cycles int // model calls in all turns
}

// reached returns the reason why no further model call is allowed: a limit of the account is
// reached, or the cycles are used up (R66).
func (b *bounds) reached() string {
	if limit := b.node.manifest.Limits.Cycles; limit > 0 && b.cycles >= limit {
		return "after " + kinds.Count(limit, "model call")
	}
	if why := b.node.account.exhaustedNow(); why != "" {
		return "because " + why
	}
	return ""
}

// halt implements loop.Options.Halt. It returns once the agent has a slot.
func (b *bounds) halt() string {
	// A call that was cancelled by itself may have left the agent without a slot.
	_ = b.node.slot.acquire(b.node.ctx) // fails if the agent is cancelled, which the loop notices
	why := b.reached()
	if why == "" && b.node.isCancelled() {
		return "because it was cancelled"
	}
	if why == "" {
		b.cycles++
	}
	return why
}

// isCancelled reports whether the agent is cancelled where it may go on: before it runs, before a model call, and at the
// end of a turn. In a replay it is if it was then. Only the agent's own goroutine calls it.
func (n *Node) isCancelled() bool {
	if n.wasCancelled {
		return true // a replay may see it earlier than it was recorded, and looks no further
	}
	who := strings.Join(n.names, "/") + "\n" + n.child.Brief().Prompt
	n.wasCancelled = record.LookBy(n.tree.Tape, "cancelled subagent", n.ids[0], who, func() bool { return n.ctx.Err() != nil })
	if n.wasCancelled {
		<-n.ctx.Done() // in a replay it comes a moment later
	}
	return n.wasCancelled
}

func (n *Node) prompt(parts ...transcript.Part) *transcript.Message {
	return &transcript.Message{
		ID: n.tree.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}
}

// chargedTools charges each tool call of a subagent before it runs, and rejects the call when
// the budget is used up.
type chargedTools struct {
	*pipeline.Pipeline
	account *account
}

// Run implements loop.Tools.
func (m chargedTools) Run(ctx context.Context, call *pipeline.Prepared, sink transcript.Sink) transcript.ToolFinished {
	why := m.account.chargeCall()
	if why == "" {
		return m.Pipeline.Run(ctx, call, sink)
	}
	_, card := m.Label(call.Tool)
	end := pipeline.Unrun(call.ID, card, transcript.Rejected, "this call was not run: "+why)
	sink.Emit(end)
	return end
}
