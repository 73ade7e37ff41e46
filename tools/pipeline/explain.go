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

// Explanation is what would become of a call, and why.
type Explanation struct {
	// Tool is the canonical id; Decision the answer of the layers up to the watchdog,
	// with the layer, the rule and the part that decided.
	Tool string
	permissions.Decision
	// Remember says in one line what "always" would store; empty when it is not offered.
	Remember string
	// Opens are directories that "always" would open for reading.
	Opens []string
	// Starts says that the call starts a process, so that the sandbox matters.
	Starts bool
	// Unconfined says that the call runs outside of the sandbox: it shows the machine.
	Unconfined bool
	// Unasked says that there is a watchdog that was not asked, for it could not have
	// been without an effect: it can still narrow the answer.
	Unasked bool
}

// Explain takes a call through the stages that judge it, the very ones of Prepare and
// Run, and no further: no one is asked, and nothing runs or is written. A call that fails
// in them is a deny. An answer that would be given to a user's question is not taken
// into account, and neither is the lack of a user (R122).
func (p *Pipeline) Explain(ctx context.Context, call Call) (e Explanation) {
	return p.explain(ctx, p.prepare(call))
}

// ExplainUnseen is Explain for a tool of a server that is not asked what it has. standIn
// has the tool's id and where it comes from; whether there is such a tool, whether the
// arguments fit it, and what an answer was given for, is not known.
func (p *Pipeline) ExplainUnseen(ctx context.Context, call Call, standIn tools.Tool) Explanation {
	c := &Prepared{
		Call: call, Tool: standIn.ID, entry: &tools.Entry{Tool: standIn},
		env: p.env(), standIn: true,
	}
	c.setArgs(tools.NewArgs(call.Input))
	c.resolveTargets(p)
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
			e.Decision = refusal(p.panicked(c.Tool, c.ID, v), permissions.LayerCapability)
		}
	}()
	if c.fault != nil {
		e.Decision = refusal(c.fault, permissions.LayerSchema)
		return e
	}
	e.Starts = slices.ContainsFunc(r.touched, func(resource tools.Resource) bool {
		return resource.Kind == tools.Command || resource.Kind == tools.Executable
	})
	if err := r.confinement.confine(ctx); err != nil {
		e.Decision = refusal(asToolError(err), permissions.LayerCapability)
		return e
	}
	r.judgement.dryRunJudge(ctx)
	if r.judgement.decision.Action != capability.Deny {
		e.Unasked = r.watchdog.dryRunWatchdog(ctx)
	}
	e.Decision = r.judgement.decision
	e.Unconfined = e.Action == capability.Allow && r.judgement.access.showsMachine()
	if e.Action == capability.Ask {
		if e.Remember = r.approval.remember(); e.Remember != "" {
			for _, access := range r.confinement.outside {
				e.Opens = append(e.Opens, access.Dir)
			}
		}
	}
	return e
}

// dryRunWatchdog is watch for a watchdog that can do without effects; it reports whether there
// is one that was left out.
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
		w.judgement.dryRunJudge(ctx) // as in watch
	}
	return !known && err == nil
}

// dryRunJudge is judge with what it refuses in the decision: a mode refuses what the rules
// would allow.
func (j *judgement) dryRunJudge(ctx context.Context) {
	if err := j.judge(ctx); err != nil && j.decision.Action != capability.Deny {
		j.decision = refusal(asToolError(err), permissions.LayerCapability)
	}
}

// refusal is the decision that an error of a stage amounts to.
func refusal(err *tools.Error, layer string) permissions.Decision {
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

// maxReason bounds the one line that says why, in characters: a reason may quote what the
// model wrote.
const maxReason = 1000
