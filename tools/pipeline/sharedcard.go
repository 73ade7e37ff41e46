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

// Bounds of a question about several commands: the user has to read all of it.
const (
	// maxSharedCalls bounds how many calls after the first are considered for the same card.
	maxSharedCalls = 9
	// maxSharedText bounds the text of the commands on one card, in bytes.
	maxSharedText = 4 << 10
)

// Step holds the calls of one answer of the model, in their order, so that one question can cover
// several commands. The zero value is ready. All of its calls are prepared before the first runs.
//
// Only a serial call reads the calls after it, and none of them runs while it does.
type Step struct{ calls []*Prepared }

func (s *Step) add(c *Prepared) {
	if s != nil {
		s.calls = append(s.calls, c)
	}
}

// following returns at most maxSharedCalls calls after c.
func (s *Step) following(c *Prepared) []*Prepared {
	if s == nil || !slices.Contains(s.calls, c) {
		return nil
	}
	next := s.calls[slices.Index(s.calls, c)+1:]
	return next[:min(len(next), maxSharedCalls)]
}

// earlierAnswer is the user's answer about a call on the card of an earlier call.
type earlierAnswer struct {
	answer tools.Answer
	reason string // on that card
	shown  commandSnapshot
}

// commandSnapshot is what a card says of a command: what it touches, the verdict on each part, the text
// that runs, and the sandbox. An answer is void when any of this has changed. The reason is not included: it
// depends on the rules that "always" would add, which the answer itself changes.
type commandSnapshot struct {
	resources []permissions.Resource
	texts     []judgedText
	settings  []string
	sandbox   string
}

func (a *approval) snapshot(ctx context.Context) commandSnapshot {
	return commandSnapshot{a.judgement.judged.Resources, a.access.texts, a.access.settings, a.sandboxing.describe(ctx)}
}

// mayShareCard reports whether one card may ask about this command and others: the sandbox confines all that it does.
// A command that is dangerous, leaves the project or the sandbox, publishes, needs the network or may read secrets
// gets a card of its own, so that no list hides it.
func (a *approval) mayShareCard() bool {
	j := a.judgement
	d := j.decision
	switch {
	case a.Tool != shellTool || !a.serial || d.Action != capability.Ask || d.Validation || j.watchdogReason != "",
		d.Layer != permissions.LayerRules && d.Layer != permissions.LayerPolicy,
		slices.Contains([]string{unsearchedReadingReason, exposedSecretsReason, unsearchedReason}, d.Reason),
		len(a.confinement.outside) > 0 || len(a.confinement.links) > 0,
		a.access.network || a.access.mayOfferOutside || a.access.missed != run.Shortage{}:
		return false
	}
	return !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool {
		return resource.Judged != nil && resource.Judged.NotSandboxable != ""
	})
}

// onSameCard returns the later commands of the step that share the card of this one. It stops at the first call
// that needs a card of its own, or that is not a command and does more than read. It skips commands that run without
// a question.
func (a *approval) onSameCard(ctx context.Context) (list []*approval) {
	if a.askAlone || !a.mayShareCard() {
		return nil
	}
	left, sandbox := maxSharedText-a.commandBytes(), a.sandboxing.describe(ctx)
	for _, c := range a.Step.following(a.Prepared) {
		switch {
		case c.fault != nil || a.pipeline.active.cancelled(c.ID):
			continue // it does not run
		case c.Tool != shellTool && c.entry.ReadOnly && !c.serial:
			continue
		case c.Tool != shellTool || c.askAlone || c.earlier != nil:
			return list
		}
		other := a.lookAhead(ctx, c)
		if other != nil && other.judgement.decision.Action == capability.Allow {
			continue
		}
		if other == nil || !other.mayShareCard() || other.sandboxing.describe(ctx) != sandbox {
			return list
		}
		if left -= other.commandBytes(); left < 0 {
			return list
		}
		list = append(list, other)
	}
	return list
}

// commandBytes returns the length of the text of the call's commands.
func (s *sharedState) commandBytes() (n int) {
	for _, resource := range s.commands() {
		n += len(resource.Value)
	}
	return n
}

// lookAhead judges a later call of the step; nil means that it is refused. That call is judged again before it runs.
func (a *approval) lookAhead(ctx context.Context, c *Prepared) (other *approval) {
	defer func() {
		if v := recover(); v != nil {
			_ = a.pipeline.panicked(c.Tool, c.ID, v) // the call fails in the same way when it runs
			other = nil
		}
	}()
	r := a.pipeline.newRunning(c, a.stepSink)
	r.remotes = r.showsRemotes()
	for _, stage := range []func(context.Context) error{r.confinement.refreshTargets, r.confinement.confine, r.judgement.judge} {
		if stage(ctx) != nil {
			return nil
		}
	}
	return r.approval
}

// requeue marks a call as queued again after it was asked about on the card of an earlier one.
func (a *approval) requeue() {
	a.sink.Emit(transcript.ToolState{CallID: a.ID, State: transcript.Queued})
}

// applyEarlierAnswer applies the user's answer on the card of an earlier call, and reports whether no question
// is left. A refusal always holds. An approval holds if the call still is what that card showed; otherwise the call
// gets a card of its own.
func (a *approval) applyEarlierAnswer(ctx context.Context) (answered bool, err error) {
	e := a.earlier
	if e == nil {
		return false, nil
	}
	if e.answer.Allows() {
		a.askAlone = true
		if a.judgement.decision.Action == capability.Allow || !a.mayShareCard() || !reflect.DeepEqual(e.shown, a.snapshot(ctx)) {
			return false, nil
		}
	}
	a.asked, a.answer = e.reason, answerName(e.answer)
	return true, a.applyAnswer(e.answer)
}
