package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Pipeline runs the tool calls of one agent of a session. It is safe for concurrent use.
type Pipeline struct {
	Options
	registry  atomic.Pointer[tools.Registry]
	catalogue *catalogue
	declared  atomic.Pointer[capability.RequirementSet]
	// restricted says that what the agent starts gets no network, see permissions.Set.Restrict.
	restricted bool
	shortages  shortages
	// notices is shared by the agents of a session.
	notices *notices
	active  active
	// abandoned has the goroutines of the session's tools that did not stop when cancelled. It is
	// shared by the agents of a session.
	abandoned *abandoned
	// changes counts how often a call that may change something started or ended. It is shared by
	// the agents of a session.
	changes *atomic.Int64
}

// New returns a Pipeline.
func New(o Options) *Pipeline {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Session == nil {
		o.Session = NoSession{}
	}
	p := &Pipeline{Options: o, abandoned: &abandoned{}, notices: &notices{}, changes: &atomic.Int64{}}
	switch {
	case o.Parent != nil:
		p.Queue, p.abandoned, p.notices, p.changes = o.Parent.Queue, o.Parent.abandoned, o.Parent.notices, o.Parent.changes
	case o.Queue == nil:
		p.Queue = tools.NewQuestionQueue()
	}
	p.restricted = o.Policy.restricted()
	p.Services.Jobs = p.jobView()
	p.registry.Store(o.Registry)
	enabled := p.enabled()
	p.declare(enabled)
	p.catalogue = newCatalogue(enabled, o.Deferral, p.lacking, o.Session.ListedOnly)
	p.catalogue.policy = p.modePolicy()
	return p
}

// Catalog returns the tools of the next request, under their canonical names (R19, R87). The first call
// fixes the list (R138). The current mode of the session applies until the next request (R157).
func (p *Pipeline) Catalog() []model.Tool { return p.catalogue.request(p.requestPolicy()) }

// Activate restores which deferred tools the model had found when the session was stored (R87).
func (p *Pipeline) Activate(ids []string) { p.catalogue.restore(ids) }

// Listed returns what Catalog would return now, for the user to read, without fixing the list.
func (p *Pipeline) Listed() []model.Tool { return p.catalogue.preview(p.modePolicy()) }

// Deferred reports whether a tool is not in the list, so that the model has to search for it or call it
// by name (R87).
func (p *Pipeline) Deferred(id string) bool { return p.catalogue.deferred(id) }

// Canonical returns the id that a name stands for.
func (p *Pipeline) Canonical(name string) string { return p.Tools().Canonical(name) }

// Label returns the id that a name stands for, and the card of a call whose arguments are
// not known yet.
func (p *Pipeline) Label(name string) (id string, card kinds.Card) { return p.Tools().Label(name) }

// Prepare takes a call through the stages that change nothing and ask no one (R20).
func (p *Pipeline) Prepare(call Call) *Prepared {
	p.active.queue(call.ID)
	if p.Tape.Plays() {
		return p.playPrepared(call)
	}
	c := p.prepare(call)
	if p.Tape.Records() {
		p.recordPrepared(c)
	}
	call.Step.add(c)
	return c
}

func (p *Pipeline) prepare(call Call) (c *Prepared) {
	c = &Prepared{Call: call, Tool: p.Canonical(call.Name), env: p.env()}
	_, c.Card = p.Label(call.Name)
	c.resetTargets(p) // from preprocess on, the tool's functions resolve paths
	defer func() {
		if v := recover(); v != nil {
			c.fault = p.panicked(c.Tool, c.ID, v)
		}
	}()
	for _, stage := range []func(*Prepared) error{
		p.resolve,    // finds the tool, and the canonical names of the arguments
		p.gate,       // is the tool switched on and present in this mode?
		p.accept,     // converts arguments that have the shape of another agent's tool
		p.preprocess, // makes the arguments that will run
		p.validate,   // checks them against the schema
		p.describe,   // makes the card, and finds out which calls conflict
	} {
		if err := stage(c); err != nil {
			c.fault = p.withSchema(c, asToolError(err))
			return c
		}
	}
	return c
}

// resolve finds the tool and the canonical names of its arguments.
func (p *Pipeline) resolve(c *Prepared) error {
	input := json.RawMessage(c.Input)
	entry, args, err := p.Tools().Resolve(c.Name, input, func(entry *tools.Entry) bool { return p.WhyAbsent(entry) == "" })
	if err != nil {
		c.Malformed = !json.Valid(input)
		return err
	}
	c.Malformed = !json.Valid(args)
	c.entry, c.Tool = entry, entry.ID
	if c.Malformed {
		return entry.Validate(tools.NewArgs(input)) // the error names the fault in the JSON
	}
	c.setArgs(tools.NewArgs(args))
	return nil
}

// setArgs replaces the arguments of the call.
func (c *Prepared) setArgs(args tools.Args) { c.args, c.Args = args, args.Raw() }

// accept converts arguments in the shapes and names that models know from other agents' tools into
// those of the tool, which are judged, shown and run.
func (p *Pipeline) accept(c *Prepared) error {
	args, ignored, err := c.entry.Accept(c.Name, c.Args)
	if err != nil {
		return err
	}
	c.setArgs(args)
	c.ignoredArgs = ignored
	return nil
}

func (p *Pipeline) preprocess(c *Prepared) error {
	args, err := c.entry.RunPreprocess(c.args, c.env)
	if err != nil {
		return err
	}
	c.setArgs(args)
	return nil
}

func (p *Pipeline) validate(c *Prepared) error { return c.entry.Validate(c.args) }

func (p *Pipeline) describe(c *Prepared) error {
	c.Card = c.entry.Card(c.args, c.env.Place)
	c.findTouched()
	switch profile := c.entry.Profile; {
	case profile == nil:
		c.serial = true // the tool says nothing about conflicts, so its calls run alone (R100)
	default:
		c.serial = profile.Serial
		if profile.Keys != nil {
			c.keys = profile.Keys(c.args, c.env)
		}
	}
	return nil
}

// Run takes a prepared call through the remaining stages and emits its states.
// It returns promptly when ctx ends.
func (p *Pipeline) Run(ctx context.Context, c *Prepared, sink transcript.Sink) transcript.ToolFinished {
	if p.Tape.Plays() && !c.Cut {
		return p.play(ctx, c, sink)
	}
	defer c.tape.Return()
	r := p.newRunning(c, c.recorded(sink))
	r.stepSink = sink
	ctx, leave := p.active.enter(ctx, c, r.started)
	defer leave()
	ctx, span := p.Tracer.Tool(ctx, c.Tool, c.ID)
	r.report(span)
	r.publish(observe.ToolPre, "started", nil)
	end := r.end(ctx, r.runStages(ctx))
	r.sink.Emit(end)
	return end
}

// panicked turns a panic in or around a tool into the call's failure (R7).
func (p *Pipeline) panicked(tool, callID string, v any) *tools.Error {
	p.Logger.Error("tool panicked", "tool", tool, "call_id", callID, "stack", string(debug.Stack()))
	return tools.Errorf(tools.Backend, "%s failed inside the agent: %T: %v", tool, v, v)
}

// runStages takes the call through the stages of Run; the first error ends it.
func (r *running) runStages(ctx context.Context) (err error) {
	if r.fault != nil {
		return r.fault
	}
	defer func() {
		if v := recover(); v != nil {
			err = r.pipeline.panicked(r.Tool, r.ID, v)
		}
	}()
	r.remotes = r.showsRemotes()
	for _, stage := range []func(context.Context) error{
		r.pipeline.WaitForAbandoned,     // cancelled calls have ended
		r.confinement.refreshTargets,    // the paths still lead where they led
		r.confinement.confine,           // capability check
		r.judgement.judge,               // rules, after the command judge
		r.watchdog.watch,                // the watchdog may narrow the answer
		r.approval.ask,                  // the user, when the answer is ask
		r.execution.execute,             // the tool runs
		r.movedAside.askAboutMovedAside, // does the user keep what the sandbox moved aside?
		r.ending.render,                 // cuts the result to size
	} {
		if err := ctx.Err(); err != nil && r.execution.result == nil {
			return err
		}
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
}

// end returns the end of a call whose stages returned err.
func (r *running) end(ctx context.Context, err error) transcript.ToolFinished {
	if r.execution.runtime != nil {
		r.execution.runtime.Finish()
	}
	return r.redactEnd(r.ending.finish(ctx, err))
}

// asToolError turns every failure into the one type of error that a model sees.
func asToolError(err error) *tools.Error {
	var e *tools.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &tools.Error{Kind: tools.Aborted, Message: CancelledText, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &tools.Error{Kind: tools.Timeout, Message: err.Error(), Err: err}
	}
	return &tools.Error{Kind: tools.Backend, Message: err.Error(), Err: err}
}
