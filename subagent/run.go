package subagent

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// start runs the subagent on a goroutine that ends with it, and has another close it when
// it is cancelled and does not end.
func (n *Node) start(d tools.Delegation) {
	close(n.begun)
	unwatch := context.AfterFunc(n.ctx, n.closeLate)
	go func() { // counted in join
		defer n.family.running.Done()
		end := n.run(d)
		unwatch()
		n.close(end)
	}()
}

// run runs the subagent to its end. Whatever goes wrong in it ends it, and nothing
// else.
func (n *Node) run(d tools.Delegation) (end ending) {
	defer func() {
		if v := recover(); v != nil {
			n.family.Logger.Error("subagent panicked", "agent", strings.Join(n.names, "/"), "stack", string(debug.Stack()))
			end = failed(fmt.Errorf("the subagent failed inside the agent: %v", v))
		}
	}()
	if len(n.family.places) == cap(n.family.places) {
		n.showCard() // it waits for its turn
	}
	if n.takePlace(n.ctx) != nil || n.ctx.Err() != nil {
		return n.stopped()
	}
	equipment, err := n.family.Equip(n, d)
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
		if !r.State.Terminal() { // it may have been closed meanwhile
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

// turns runs one turn, and further ones for what background subagents of this one have
// to tell when it ends.
func (n *Node) turns(e Equipment, prompt *transcript.Message) ending {
	bounds := &bounds{node: n}
	l := loop.New(loop.Options{
		Provider: e.Provider, Tools: metered{e.Tools, n.account}, Log: n.log, Sink: transcript.SinkFunc(n.say), IDs: n.family.IDs,
		System: e.System, Model: e.Model, ThoughtLevel: e.ThoughtLevel, Temperature: e.Temperature, MaxTokens: e.MaxTokens,
		Window: e.Window, MaxSteps: cmp.Or(n.manifest.Limits.Cycles, e.MaxSteps), Concurrent: e.Concurrent, CacheKey: n.id, Memo: &model.Memo{},
		Remind: e.Remind, Continue: true, Halt: bounds.halt, Tracer: e.Tracer, NoticeAfter: e.NoticeAfter,
	})
	for {
		stop, err := l.Turn(n.ctx, prompt)
		switch {
		case err != nil:
			return failed(err)
		case stop == loop.Cancelled:
			return n.stopped()
		case stop == loop.Refusal:
			return failed(errRefused)
		case stop != loop.EndTurn:
			return ending{state: transcript.ChildDone, note: "it was stopped " + l.Why()}
		}
		if why := bounds.reached(); why != "" { // what it is told, those above hear
			end := ending{state: transcript.ChildDone}
			if n.told() {
				end.note = "it was stopped " + why
			}
			return end
		}
		told := n.takeInbox()
		if len(told) == 0 {
			return ending{state: transcript.ChildDone}
		}
		prompt = n.prompt(told...)
	}
}

// bounds are what ends a subagent before each of its model calls.
type bounds struct {
	node   *Node
	cycles int // of all its turns
}

// reached says why there must be no model call: a bound of the account is reached, or the
// cycles are used up (R66).
func (b *bounds) reached() string {
	if limit := b.node.manifest.Limits.Cycles; limit > 0 && b.cycles >= limit {
		return "after " + kinds.Count(limit, "model call")
	}
	if why := b.node.account.reached(); why != "" {
		return "because " + why
	}
	return ""
}

// halt is reached for the loop, before a model call. It returns once the agent has a place.
func (b *bounds) halt() string {
	b.node.regain()
	why := b.reached()
	if why == "" {
		b.cycles++
	}
	return why
}

func (n *Node) prompt(parts ...transcript.Part) *transcript.Message {
	return &transcript.Message{
		ID: n.family.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}
}

// metered are the tools of a subagent: each call is charged before it runs, and not run
// when there is nothing left to pay for it.
type metered struct {
	*pipeline.Pipeline
	account *account
}

// Run implements loop.Tools.
func (m metered) Run(ctx context.Context, call *pipeline.Prepared, sink transcript.Sink) transcript.ToolFinished {
	why := m.account.chargeCall()
	if why == "" {
		return m.Pipeline.Run(ctx, call, sink)
	}
	end := pipeline.Unrun(call.ID, call.Tool, transcript.Rejected, "this call was not run: "+why)
	sink.Emit(end)
	return end
}
