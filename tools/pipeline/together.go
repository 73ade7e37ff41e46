package pipeline

import (
	"context"
	"reflect"
	"slices"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// Bounds of a question about several commands: a user has to read all of it.
const (
	// maxAhead bounds the calls after the first that are looked at for one question.
	maxAhead = 9
	// maxTogether bounds the text of its commands, in bytes. A longer one is asked about by itself.
	maxTogether = 4 << 10
)

// Step holds the calls of one answer of the model, in their order, so that commands among them can be
// asked about together. The zero value is ready. All of its calls are prepared before the first runs.
//
// Only a call that is serial looks at those after it, none of which runs yet then.
type Step struct{ calls []*Prepared }

func (s *Step) add(c *Prepared) {
	if s != nil {
		s.calls = append(s.calls, c)
	}
}

// after are the calls that follow one, as far as a question looks ahead.
func (s *Step) after(c *Prepared) []*Prepared {
	if s == nil || !slices.Contains(s.calls, c) {
		return nil
	}
	next := s.calls[slices.Index(s.calls, c)+1:]
	return next[:min(len(next), maxAhead)]
}

// earlier is what the user answered about a call on the card of one before it.
type earlier struct {
	answer tools.Answer
	reason string // that the card gave
	finding
}

// finding is what the user saw of a command: what it touches, what was found about each part, what runs, and what
// confines it. Which rules an "always" would add, and so the reason, may change with the answer itself.
type finding struct {
	resources []permissions.Resource
	texts     []judgedText
	settings  []string
	sandbox   string
}

func (a *approval) finding(ctx context.Context) finding {
	return finding{a.judgement.judged.Resources, a.reach.texts, a.reach.settings, a.sandboxing.sandbox(ctx)}
}

// ordinary reports whether the question about a command may stand beside others: it asks about nothing but what a
// sandbox confines. What is dangerous, leaves the project or the sandbox, publishes, needs the network or may
// meet secrets has a card of its own, which no list hides.
func (a *approval) ordinary() bool {
	j := a.judgement
	d := j.decision
	switch {
	case a.Tool != shellTool || !a.serial || d.Action != capability.Ask || d.Validation || j.watchdogReason != "",
		d.Layer != permissions.LayerRules && d.Layer != permissions.LayerPolicy,
		slices.Contains([]string{unhiddenReason, openReason, unknownReason}, d.Reason),
		len(a.confinement.outside) > 0 || len(a.confinement.links) > 0,
		a.reach.network || a.reach.outside || a.reach.missed != run.Shortage{}:
		return false
	}
	return !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool {
		return resource.Judged != nil && resource.Judged.NotSandboxable != ""
	})
}

// others are the calls of the same step that are asked about with this one: the commands after it, up to the first
// call that is not a command and does more than read, or has a card of its own. Commands that may run unasked have no
// place on the card.
func (a *approval) others(ctx context.Context) (list []*approval) {
	if a.alone || !a.ordinary() {
		return nil
	}
	room, sandbox := maxTogether-a.commandBytes(), a.sandboxing.sandbox(ctx)
	for _, c := range a.Step.after(a.Prepared) {
		switch {
		case c.fault != nil || a.pipeline.active.cancelled(c.ID):
			continue // it does not run
		case c.Tool != shellTool && c.entry.ReadOnly && !c.serial:
			continue
		case c.Tool != shellTool || c.alone || c.earlier != nil:
			return list
		}
		other := a.lookAhead(ctx, c)
		if other != nil && other.judgement.decision.Action == capability.Allow {
			continue
		}
		if other == nil || !other.ordinary() || other.sandboxing.sandbox(ctx) != sandbox {
			return list
		}
		if room -= other.commandBytes(); room < 0 {
			return list
		}
		list = append(list, other)
	}
	return list
}

// commandBytes is the size of the text of the call's commands.
func (u *underway) commandBytes() (n int) {
	for _, resource := range u.commands() {
		n += len(resource.Value)
	}
	return n
}

// lookAhead judges a call of the same step that has not begun; nil when it is refused. It is judged again before
// it runs.
func (a *approval) lookAhead(ctx context.Context, c *Prepared) (other *approval) {
	defer func() {
		if v := recover(); v != nil {
			_ = a.pipeline.panicked(c.Tool, c.ID, v) // what becomes of it shows when it runs
			other = nil
		}
	}()
	r := a.pipeline.newRunning(c, a.step)
	r.remotes = r.showsRemotes()
	for _, stage := range []func(context.Context) error{r.confinement.refreshTargets, r.confinement.confine, r.judgement.judge} {
		if stage(ctx) != nil {
			return nil
		}
	}
	return r.approval
}

// release ends the wait of a call that was asked about with an earlier one: it waits for its turn.
func (a *approval) release() {
	a.sink.Emit(transcript.ToolState{CallID: a.ID, State: transcript.Queued})
}

// applyEarlierAnswer applies what the user answered about the call on the card of an earlier one, and reports whether that
// settles it. A refusal does in any case. A yes does if the call still is what the card showed; else it is asked
// about by itself.
func (a *approval) applyEarlierAnswer(ctx context.Context) (settled bool, err error) {
	e := a.earlier
	if e == nil {
		return false, nil
	}
	if e.answer.Allows() {
		a.alone = true
		if a.judgement.decision.Action == capability.Allow || !a.ordinary() || !reflect.DeepEqual(e.finding, a.finding(ctx)) {
			return false, nil
		}
	}
	a.asked, a.answer = e.reason, answerName(e.answer)
	return true, a.applyAnswer(e.answer)
}
