package subagent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"acp-agent/loop"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// start runs the subagent on a goroutine that ends with it.
func (n *Node) start(d tools.Delegation) {
	n.family.running.Go(func() {
		defer close(n.done)
		stop, err := n.run(d)
		n.finish(stop, err)
	})
}

// run runs the subagent to its end. Whatever goes wrong in it ends it, and nothing
// else.
func (n *Node) run(d tools.Delegation) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil {
			n.family.Logger.Error("subagent panicked", "agent", strings.Join(n.names, "/"), "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the subagent failed inside the agent: %v", v)
		}
	}()
	if n.takePlace(n.ctx) != nil {
		return loop.Cancelled, nil
	}
	defer n.leavePlace()
	equipment, err := n.family.Equip(n, d)
	if err != nil {
		return "", err
	}
	if equipment.Release != nil {
		defer equipment.Release()
	}
	n.mu.Lock()
	n.tools, n.model = equipment.Tools, equipment.Model
	n.mu.Unlock()
	n.child.Update(func(r *transcript.ChildRecord) {
		r.State, r.Started, r.Model = transcript.ChildRunning, time.Now(), equipment.Model
	})
	n.view.show()
	ctx, expire := n.account.clock(n.ctx, &n.family.budget)
	defer expire()
	return n.turns(ctx, equipment, n.prompt(&transcript.TextPart{Text: d.Prompt}))
}

// turns runs one turn, and further ones for what background subagents of this one have
// to tell when it ends.
func (n *Node) turns(ctx context.Context, e Equipment, prompt *transcript.Message) (loop.StopReason, error) {
	var memo model.Memo
	limits := n.manifest.Limits
	for {
		l := loop.New(loop.Options{
			Provider: e.Provider, Tools: e.Tools, Log: n.log, Sink: transcript.SinkFunc(n.view.tell), IDs: n.family.IDs,
			System: e.System, Model: e.Model, ThoughtLevel: e.ThoughtLevel, Temperature: e.Temperature, MaxTokens: e.MaxTokens,
			Window: e.Window, MaxSteps: limits.Cycles, Concurrent: e.Concurrent, CacheKey: n.id, Memo: &memo,
			Remind: e.Remind, Continue: true, Halt: func() bool { return n.account.over(&n.family.budget) != "" },
		})
		stop, err := l.Turn(ctx, prompt)
		if err != nil || stop != loop.EndTurn {
			return stop, err
		}
		told := n.takeInbox()
		if len(told) == 0 {
			return stop, nil
		}
		prompt = n.prompt(told...)
	}
}

func (n *Node) prompt(parts ...transcript.Part) *transcript.Message {
	return &transcript.Message{
		ID: n.family.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}
}

// takeInbox returns what came in; when nothing did, nothing will be taken any more.
func (n *Node) takeInbox() []transcript.Part {
	n.mu.Lock()
	defer n.mu.Unlock()
	var parts []transcript.Part
	for _, message := range n.inbox {
		parts = append(parts, &transcript.TextPart{Text: message.Text(), Synthetic: true})
	}
	n.inbox = nil
	n.deaf = len(parts) == 0
	return parts
}

// finish closes the record: what is open is closed, how it ended is noted, and whoever
// waits for it is told.
func (n *Node) finish(stop loop.StopReason, err error) {
	cause := context.Cause(n.ctx)
	n.cancel(nil)
	for _, id := range n.log.OpenCalls() {
		n.emit(pipeline.Unrun(id, "", transcript.Failed, "the subagent ended before this call did"))
	}
	state, note := n.outcome(stop, err, cause)
	if state == transcript.ChildCancelled {
		n.abortBelow()
	}
	n.child.Update(func(r *transcript.ChildRecord) {
		r.State, r.Note, r.Ended, r.Output = state, note, time.Now(), output(n.log.Messages())
	})
	n.view.finish()
	if n.record().Background {
		n.report()
	}
}

// outcome says in which state a run leaves the subagent, and what kept it from ending
// by itself. Whatever bound it was stopped at, what it has done so far is done (R66).
func (n *Node) outcome(stop loop.StopReason, err, cause error) (state transcript.ChildState, note string) {
	switch {
	case err != nil:
		return transcript.ChildFailed, err.Error()
	case stop == loop.Refusal:
		return transcript.ChildFailed, "the model refused"
	case stop == loop.Cancelled && cause != nil:
		return transcript.ChildCancelled, abortOf(cause).Message
	}
	if why := n.account.over(&n.family.budget); why != "" {
		return transcript.ChildDone, "it was stopped because " + why
	}
	switch {
	case stop == loop.Cancelled:
		return transcript.ChildCancelled, ErrParentAborted.Message
	case stop == loop.MaxTurnRequests && n.record().Steps >= n.manifest.Limits.Cycles:
		return transcript.ChildDone, fmt.Sprintf("it was stopped after %d model calls", n.record().Steps)
	case stop == loop.MaxTurnRequests:
		return transcript.ChildDone, "it was stopped because it made no headway"
	}
	return transcript.ChildDone, ""
}

// abortOf is why a subagent was aborted.
func abortOf(cause error) *tools.Error {
	if errors.Is(cause, ErrStopped) {
		return ErrStopped
	}
	return ErrParentAborted
}

// abortBelow ends the background subagents of an agent that was aborted (R67).
func (n *Node) abortBelow() {
	for _, other := range n.family.all() {
		if other.under(n) {
			other.cancel(ErrParentAborted)
		}
	}
}

func (n *Node) under(above *Node) bool {
	for p := n.parent; p != nil; p = p.parent {
		if p == above {
			return true
		}
	}
	return false
}

// failure is the error of the call that waited for the subagent; nil when it ended,
// though it may have been stopped at a bound.
func (n *Node) failure() error {
	switch record := n.record(); record.State {
	case transcript.ChildCancelled:
		return abortOf(context.Cause(n.ctx))
	case transcript.ChildFailed:
		return tools.Errorf(tools.Backend, "the subagent %s failed: %s", record.Agent, record.Note)
	}
	return nil
}

// report tells the nearest agent above that still listens how a background subagent
// ended (R68).
func (n *Node) report() {
	record := n.record()
	message := &transcript.Message{
		ID: n.family.IDs.New(transcript.MessagePrefix), Role: transcript.Assistant, Created: time.Now(), Synthetic: true,
		Parts: []transcript.Part{&transcript.TextPart{
			ID: n.family.IDs.New(transcript.PartPrefix), Text: reportOf(record, n.view.files()), Synthetic: true,
		}},
	}
	for p := n.parent; p.parent != nil; p = p.parent {
		if p.hear(message) {
			return
		}
	}
	n.family.Deliver(message, record.State == transcript.ChildCancelled)
}

// hear takes a message for the end of the agent's turn, unless that is past.
func (n *Node) hear(message *transcript.Message) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.deaf || n.ctx.Err() != nil {
		return false
	}
	n.inbox = append(n.inbox, message)
	return true
}

// reportOf is the message about a background subagent that has ended.
func reportOf(r transcript.ChildRecord, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Background subagent %s (%s) ", strings.Join(r.Path, " > "), r.ID)
	switch r.State {
	case transcript.ChildDone:
		b.WriteString("has ended.")
	case transcript.ChildCancelled:
		b.WriteString("was cancelled.")
	default:
		b.WriteString("has failed.")
	}
	b.WriteString(resultText(r, files))
	return b.String()
}

// resultText is what came of a subagent: its note, its last message, its files.
func resultText(r transcript.ChildRecord, files []string) string {
	var b strings.Builder
	if r.Note != "" {
		fmt.Fprintf(&b, "\n\nNote: %s.", strings.TrimSuffix(r.Note, "."))
	}
	if r.Output != "" {
		b.WriteString("\n\n" + r.Output)
	}
	if len(files) > 0 {
		b.WriteString("\n\nFiles changed:")
		for _, file := range files {
			b.WriteString("\n- " + file)
		}
	}
	return b.String()
}

// output is the last message of a conversation. What the token limit cut into pieces is
// one message (R66).
func output(messages []*transcript.Message) string {
	last, cut := "", false
	for _, m := range messages {
		switch {
		case loop.GoesOn(m):
			cut = true
		case m.Role == transcript.Assistant && !m.Synthetic && m.Text() != "":
			if !cut {
				last = ""
			}
			last, cut = last+m.Text(), false
		default:
			cut = false
		}
	}
	return last
}
