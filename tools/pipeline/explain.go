package pipeline

import (
	"context"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Explanation says whether a call would run, and why.
type Explanation struct {
	// Tool is the canonical id. Decision is the answer of the layers up to the watchdog, with the
	// layer, the rule and the part of the call that decided.
	Tool string
	permissions.Decision
	// Remember describes in one line what "always" would store; empty when it is not offered.
	Remember string
	// Opens are the directories that "always" would open for reading.
	Opens []string
	// Starts says that the call starts a process, so that the sandbox matters.
	Starts bool
	// ShowsMachine says that the call runs outside of the sandbox, because all that it does is show the machine.
	ShowsMachine bool
	// Unasked says that there is a watchdog whose answer is not known, because asking it would have
	// an effect: it can still narrow the decision.
	Unasked bool
}

// Explain takes a call through the judging stages of Prepare and Run and no further: it asks no one, and
// runs and writes nothing. A call that fails in a stage is a deny. Explain does not guess the user's
// answer, and does not consider whether there is a user at all (R122).
func (p *Pipeline) Explain(ctx context.Context, call Call) (e Explanation) {
	return p.explain(ctx, p.prepare(call))
}

// ExplainUnseen is Explain for a tool of a server that is not started. standIn has the tool's id and its
// source. It is not known whether the tool exists, whether the arguments fit it, and which stored answers
// apply to it.
func (p *Pipeline) ExplainUnseen(ctx context.Context, call Call, standIn tools.Tool) Explanation {
	c := &Prepared{
		Call: call, Tool: standIn.ID, entry: &tools.Entry{Tool: standIn},
		env: p.env(), standIn: true,
	}
	c.setArgs(tools.NewArgs(call.Input))
	c.resetTargets(p)
	if err := p.gate(c); err != nil {
		c.fault = asToolError(err)
	}
	return p.explain(ctx, c)
}

func (p *Pipeline) explain(ctx context.Context, c *Prepared) (e Explanation) {
	r := p.newRunning(c, transcript.Discard)
	r.judgement.dryRun = true
	e.Tool = c.Tool
	defer func() {
		if v := recover(); v != nil { // an error in a check is a deny (E4)
			e.Decision = decisionOf(p.panicked(c.Tool, c.ID, v), permissions.LayerCapability)
		}
	}()
	if c.fault != nil {
		e.Decision = decisionOf(c.fault, permissions.LayerSchema)
		return e
	}
	e.Starts = slices.ContainsFunc(r.touched, func(resource tools.Resource) bool {
		return resource.Kind == tools.Command || resource.Kind == tools.Executable
	})
	if err := r.confinement.confine(ctx); err != nil {
		e.Decision = decisionOf(asToolError(err), permissions.LayerCapability)
		return e
	}
	r.judgement.dryRunJudge(ctx)
	if r.judgement.decision.Action != capability.Deny {
		e.Unasked = r.watchdog.dryRunWatchdog(ctx)
	}
	e.Decision = r.judgement.decision
	e.ShowsMachine = e.Action == capability.Allow && r.judgement.access.showsMachine()
	if e.Action == capability.Ask {
		if e.Remember = r.approval.alwaysText(); e.Remember != "" {
			for _, access := range r.approval.openable() {
				e.Opens = append(e.Opens, access.Dir)
			}
		}
	}
	return e
}

// dryRunWatchdog is watch for a watchdog that has a dry run, with a denial put into the decision. It reports whether
// there is a watchdog whose answer is not known.
func (w *watchdogCheck) dryRunWatchdog(ctx context.Context) (unasked bool) {
	if w.pipeline.Watchdog == nil {
		return false
	}
	dog, ok := w.pipeline.Watchdog.(watchdog.DryRunner)
	if !ok {
		return true
	}
	d, known, err := dog.DryRun(ctx, w.watched(ctx))
	switch {
	case err != nil:
		w.judgement.decision = permissions.Decision{
			Action: capability.Deny, DeniedBy: tools.DeniedByWatchdog, Layer: permissions.LayerWatchdog,
			Reason: "the watchdog failed, so the call would not run: " + err.Error(),
		}
	case d.Action == capability.Deny:
		w.judgement.decision = permissions.Decision{
			Action: capability.Deny, DeniedBy: tools.DeniedByWatchdog, Layer: permissions.LayerWatchdog, Reason: d.Reason,
		}
	case d.Action == capability.Ask:
		w.judgement.watchdogReason = d.Reason
		w.judgement.dryRunJudge(ctx) // which applies the reason, as in watch
	}
	return !known && err == nil
}

// dryRunJudge is judge, with an error put into the decision: a mode may refuse what the rules allow.
func (j *judgement) dryRunJudge(ctx context.Context) {
	if err := j.judge(ctx); err != nil && j.decision.Action != capability.Deny {
		j.decision = decisionOf(asToolError(err), permissions.LayerCapability)
	}
}

// decisionOf returns the denial that an error of a stage amounts to.
func decisionOf(err *tools.Error, layer string) permissions.Decision {
	switch err.DeniedBy {
	case tools.DeniedByEnablement:
		layer = permissions.LayerEnablement
	case tools.DeniedByMode:
		layer = permissions.LayerCapability
	}
	reason := err.Message
	if more := strings.TrimSpace(err.Detail + "\n" + err.Hint); more != "" {
		reason += " (" + more + ")"
	}
	d := permissions.Decision{Action: capability.Deny, Layer: layer, DeniedBy: err.DeniedBy, Reason: kinds.Line(reason, maxReason), Part: err.Path}
	if d.DeniedBy == "" {
		d.DeniedBy = layer
	}
	return d
}

// maxReason bounds the reason, in characters: it may quote what the model wrote.
const maxReason = 1000
