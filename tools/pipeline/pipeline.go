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
	// restricted keeps the network from what the agent starts, see
	// permissions.Set.Restrict.
	restricted bool
	shortages  shortages
	// notices is shared by the agents of a session.
	notices *notices
	active  active
	// abandoned are goroutines of the session's tools that did not stop when they were
	// told to.
	abandoned *abandoned
	// changes counts, for the agents of a session, the calls that began or ended to change
	// something.
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

// Catalog lists, under their canonical names, the tools of the next request (R19,
// R87). The first one makes the list, and it stays (R138). The mode of the session
// counts as it is now, until the next request (R157).
func (p *Pipeline) Catalog() []model.Tool { return p.catalogue.request(p.requestPolicy()) }

// Activate makes deferred tools callable that were found before the session was stored (R87).
func (p *Pipeline) Activate(ids []string) { p.catalogue.restore(ids) }

// Listed returns what Catalog would return now, for the user to read, and fixes nothing.
func (p *Pipeline) Listed() []model.Tool { return p.catalogue.preview(p.modePolicy()) }

// Deferred reports whether a tool is not in the list, so that the model looks for it or
// calls it by name (R87).
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
	c.resolveTargets(p) // for the paths that preprocessing resolves
	defer func() {
		if v := recover(); v != nil {
			c.fault = p.panicked(c.Tool, c.ID, v)
		}
	}()
	for _, stage := range []func(*Prepared) error{
		p.resolve,    // the tool and the canonical names of its arguments
		p.gate,       // is the tool on?
		p.accept,     // the arguments as the tool has them
		p.preprocess, // the arguments that will run
		p.validate,   // against the schema
		p.describe,   // card, and what it conflicts with
	} {
		if err := stage(c); err != nil {
			c.fault = p.withSchema(c, asToolError(err))
			return c
		}
	}
	return c
}

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
		return entry.Validate(tools.NewArgs(input)) // says what is wrong with the JSON
	}
	c.setArgs(tools.NewArgs(args))
	return nil
}

// setArgs replaces the arguments of the call.
func (c *Prepared) setArgs(args tools.Args) { c.args, c.Args = args, args.Raw() }

// accept makes of arguments in the shapes and under the names that models use those
// that are judged, shown and run.
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
	if c.entry.Resources != nil {
		c.touched = c.entry.Resources(c.args, c.env)
	}
	switch profile := c.entry.Profile; {
	case profile == nil:
		c.serial = true // nothing is known of it, so nothing runs beside it (R100)
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
	r.step = sink
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
		r.pipeline.WaitForAbandoned, // what was cancelled before is gone
		r.confinement.refreshTargets,
		r.confinement.confine, // capability check
		r.judgement.judge,     // rules and command judgement
		r.watchdog.watch,
		r.approval.ask, // the user
		r.execution.execute,
		r.movedAside.askAboutMovedAside, // what was moved aside: does the user want it?
		r.ending.render,
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

// end makes the end of a call whose stages have returned err.
func (r *running) end(ctx context.Context, err error) transcript.ToolFinished {
	if r.execution.runtime != nil {
		r.execution.runtime.Finish()
	}
	return r.redacted(r.ending.finish(ctx, err))
}

// asToolError gives every failure the one shape that a model sees.
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
