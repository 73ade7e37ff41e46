package pipeline

import (
	"slices"
	"time"

	"acp-agent/internal/trace"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// running is a call on its way through the stages of Run. Each part has the methods of some
// stages and the fields that they share, and refers only to parts before it.
type running struct {
	*underway                       // the call itself, its card and its events
	confinement *confinement        // where its paths lead, and what lies outside the roots
	judgement   *judgement          // what the rules say
	watchdog    *watchdogCheck      // what the watchdog says
	approval    *approval           // what the user says
	execution   *execution          // what the tool does
	movedAside  *movedAsideQuestion // what becomes of the changes that the sandbox moved aside
	ending      *ending             // the result as the model, the editor and the store get it
}

// newRunning returns the call with its parts, ready for the first stage. Its events go to sink.
func (p *Pipeline) newRunning(c *Prepared, sink transcript.Sink) *running {
	r := &running{underway: &underway{
		Prepared: c, pipeline: p, sink: sink, started: time.Now(), card: c.Card, cleaner: cleaner{keys: p.Keys},
	}}
	r.confinement = &confinement{underway: r.underway}
	r.judgement = newJudgement(r.underway, r.confinement)
	r.watchdog = &watchdogCheck{r.underway, r.judgement}
	access := r.judgement.access
	sandboxing := &sandboxing{r.underway, r.judgement, access}
	r.approval = &approval{underway: r.underway, confinement: r.confinement, judgement: r.judgement, access: access, sandboxing: sandboxing}
	r.execution = &execution{
		underway: r.underway, judgement: r.judgement, access: access, sandboxing: sandboxing, cache: cacheUse{r.underway, access},
		connections: &connections{underway: r.underway, watchdog: r.watchdog, sandboxing: sandboxing},
	}
	r.movedAside = &movedAsideQuestion{r.underway, r.execution}
	r.ending = &ending{underway: r.underway, execution: r.execution}
	return r
}

// report makes the observers of the session learn of the call from the events that it emits
// from now on. span is nil where nothing is traced.
func (r *running) report(span *trace.Span) {
	r.sink = &reporter{
		underway: r.underway, judgement: r.judgement, approval: r.approval, execution: r.execution, next: r.sink, span: span,
	}
}

// underway is what all parts of a running call share.
type underway struct {
	*Prepared
	cleaner
	pipeline *Pipeline
	sink     transcript.Sink
	step     transcript.Sink // takes the events of the other calls of the step
	started  time.Time
	card     kinds.Card
}

// commands are the commands that the call runs.
func (u *underway) commands() []tools.Resource {
	return slices.DeleteFunc(slices.Clone(u.touched), func(resource tools.Resource) bool { return resource.Kind != tools.Command })
}

// writes reports whether the call changes files.
func (u *underway) writes() bool {
	return slices.ContainsFunc(u.touched, func(resource tools.Resource) bool { return resource.Kind == tools.PathWrite })
}
