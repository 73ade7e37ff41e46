package pipeline

import (
	"slices"
	"time"

	"acp-agent/internal/trace"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// running is a call in the stages of Run. Each part has the methods of some stages and the fields that
// they share, and refers only to the parts above it.
type running struct {
	*sharedState                     // the call itself, its card and its events
	confinement  *confinement        // where its paths lead, and what lies outside the roots
	judgement    *judgement          // what the rules say
	watchdog     *watchdogCheck      // what the watchdog says
	approval     *approval           // what the user says
	execution    *execution          // what the tool does
	movedAside   *movedAsideQuestion // what becomes of the changes that the sandbox moved aside
	ending       *ending             // the result as the model, the editor and the store get it
}

// newRunning returns the call with its parts, ready for the first stage. Its events go to sink.
func (p *Pipeline) newRunning(c *Prepared, sink transcript.Sink) *running {
	r := &running{sharedState: &sharedState{
		Prepared: c, pipeline: p, sink: sink, started: time.Now(), card: c.Card, redactor: redactor{keys: p.Keys},
	}}
	r.confinement = &confinement{sharedState: r.sharedState}
	r.judgement = newJudgement(r.sharedState, r.confinement)
	r.watchdog = &watchdogCheck{r.sharedState, r.judgement}
	access := r.judgement.access
	sandboxing := &sandboxing{r.sharedState, r.judgement, access}
	r.approval = &approval{sharedState: r.sharedState, confinement: r.confinement, judgement: r.judgement, access: access, sandboxing: sandboxing}
	r.execution = &execution{
		sharedState: r.sharedState, judgement: r.judgement, access: access, sandboxing: sandboxing, cache: cacheUse{r.sharedState, access},
		connections: &connections{sharedState: r.sharedState, watchdog: r.watchdog, sandboxing: sandboxing},
	}
	r.movedAside = &movedAsideQuestion{r.sharedState, r.execution}
	r.ending = &ending{sharedState: r.sharedState, execution: r.execution}
	return r
}

// report sends the events of the call to the observers of the session from now on. span is nil when
// nothing is traced.
func (r *running) report(span *trace.Span) {
	r.sink = &reporter{
		sharedState: r.sharedState, judgement: r.judgement, approval: r.approval, execution: r.execution, next: r.sink, span: span,
	}
}

// sharedState is the part of a running call that all others embed: the prepared call, its card and the
// receivers of its events.
type sharedState struct {
	*Prepared
	redactor
	pipeline *Pipeline
	sink     transcript.Sink
	stepSink transcript.Sink // receives the events of the other calls of Step
	started  time.Time
	card     kinds.Card
}

// commands returns the commands that the call runs.
func (s *sharedState) commands() []tools.Resource {
	return slices.DeleteFunc(slices.Clone(s.touched), func(resource tools.Resource) bool { return resource.Kind != tools.Command })
}

// writes reports whether the call changes files.
func (s *sharedState) writes() bool {
	return slices.ContainsFunc(s.touched, func(resource tools.Resource) bool { return resource.Kind == tools.PathWrite })
}
