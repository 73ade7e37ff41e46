package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"acp-agent/internal/shell"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// Options are what a Pipeline is made of.
type Options struct {
	Registry *tools.Registry
	// Disabled says whether a tool is off, and why (R9); nil means none is.
	Disabled  func(tool string) (reason string, off bool)
	Workspace *workspace.Workspace
	Policy    *Policy
	// Watchdog is asked about every call before it runs and can only narrow
	// (R121); nil means that there is none.
	Watchdog Watchdog
	// Asker puts permission requests to the person; nil means that there is
	// nobody, and every ask is a denial (R122).
	Asker  tools.Asker
	Limits tools.Limits
	// Own are directories of the agent that no tool may write.
	Own  []string
	Home string
	// Dialect is the language of the shell that runs commands (R54).
	Dialect shell.Dialect
	// Logger gets one record a call, without contents; nil means none.
	Logger *slog.Logger
}

// Watchdog is a hook before every call. An error or a panic in it denies.
type Watchdog interface {
	Judge(ctx context.Context, call WatchedCall) (permissions.Decision, error)
}

// WatchedCall is what a Watchdog sees.
type WatchedCall struct {
	SessionID, CallID, Tool string
	Args                    json.RawMessage
}

// Pipeline runs the tool calls of one session. It is safe for concurrent use.
type Pipeline struct {
	Options
	catalog []model.Tool
	// asking lets one permission request stand at a time, so that an "always"
	// answers those that wait behind it (R123).
	asking chan struct{}
	// strays are goroutines of tools that did not stop when they were told to.
	strays strays
}

// New returns a Pipeline.
func New(o Options) *Pipeline {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{Options: o, asking: make(chan struct{}, 1)}
	for _, entry := range o.Registry.All() {
		if _, off := p.disabled(entry.ID); !off {
			p.catalog = append(p.catalog, model.Tool{Name: entry.ID, Description: entry.Description, Parameters: entry.Schema})
		}
	}
	return p
}

// Catalog lists the enabled tools under their canonical names (R19).
func (p *Pipeline) Catalog() []model.Tool { return p.catalog }

// Canonical returns the id that a name stands for.
func (p *Pipeline) Canonical(name string) string { return p.Registry.Canonical(name) }

func (p *Pipeline) disabled(id string) (string, bool) {
	if p.Disabled == nil {
		return "", false
	}
	return p.Disabled(id)
}

// Prepare takes a call through the pure stages (R20).
func (p *Pipeline) Prepare(call Call) (c *Prepared) {
	c = &Prepared{Call: call, Tool: p.Canonical(call.Name), env: p.Workspace.Session().Env}
	c.Card = kinds.Card{Kind: kinds.Of(c.Tool), Title: kinds.Label(c.Tool)}
	defer func() {
		if v := recover(); v != nil {
			c.fault = p.panicked(c.Tool, c.ID, v)
		}
	}()
	for _, stage := range []func(*Prepared) error{
		p.resolve,    // the tool and the canonical names of its arguments
		p.gate,       // is the tool on?
		p.preprocess, // the arguments that will run
		p.validate,   // against the schema
		p.describe,   // card, and what it conflicts with
	} {
		if err := stage(c); err != nil {
			c.fault = asToolError(err)
			return c
		}
	}
	return c
}

func (p *Pipeline) resolve(c *Prepared) error {
	input := json.RawMessage(c.Input)
	c.Malformed = !json.Valid(input)
	entry, args, err := p.Registry.Resolve(c.Name, input)
	if err != nil {
		return err
	}
	c.entry, c.Args = entry, args
	if c.Malformed {
		c.Args = nil
		return entry.Validate(input) // says what is wrong with the JSON
	}
	return nil
}

func (p *Pipeline) gate(c *Prepared) error {
	if reason, off := p.disabled(c.Tool); off {
		return &tools.Error{Kind: tools.Denied, Message: reason, DeniedBy: "enablement"}
	}
	return nil
}

func (p *Pipeline) preprocess(c *Prepared) error {
	if c.entry.Preprocess == nil {
		return nil
	}
	args, err := c.entry.Preprocess(c.Args, c.env)
	if err != nil {
		return err
	}
	c.Args = args
	return nil
}

func (p *Pipeline) validate(c *Prepared) error { return c.entry.Validate(c.Args) }

func (p *Pipeline) describe(c *Prepared) error {
	c.Card = kinds.Describe(c.Tool, c.Args, c.env.Place)
	switch profile := c.entry.Profile; {
	case profile == nil:
		c.serial = true // nothing is known of it, so nothing runs beside it (R100)
	default:
		c.serial = profile.Serial
		if profile.Keys != nil {
			c.keys = profile.Keys(c.Args, c.env)
		}
	}
	return nil
}

// Run takes a prepared call through the remaining stages and emits its states.
// It returns promptly when ctx ends.
func (p *Pipeline) Run(ctx context.Context, c *Prepared, sink transcript.Sink) transcript.ToolFinished {
	r := &running{Prepared: c, pipeline: p, sink: sink, started: time.Now(), card: c.Card}
	err := r.pass(ctx)
	if r.runtime != nil {
		r.runtime.Finish()
	}
	end := r.finish(ctx, err)
	p.Logger.Debug("tool call", "call_id", c.ID, "tool", c.Tool, "state", end.State,
		"duration_ms", end.Result.Metadata.DurationMS)
	sink.Emit(end)
	return end
}

// running is a call on its way through the stages of Run.
type running struct {
	*Prepared
	pipeline *Pipeline
	sink     transcript.Sink
	started  time.Time
	card     kinds.Card
	judged   permissions.Call
	decision permissions.Decision
	insist   string // why the watchdog wants the person asked, "" when it does not
	// readsOnly says that the command judge found nothing but reading.
	readsOnly bool
	outside   []workspace.Access
	runtime   *workspace.Call
	result    *tools.Result
}

// panicked turns a panic in or around a tool into the call's failure (R7).
func (p *Pipeline) panicked(tool, callID string, v any) *tools.Error {
	p.Logger.Error("tool panicked", "tool", tool, "call_id", callID, "stack", string(debug.Stack()))
	return tools.Errorf(tools.Backend, "%s failed inside the agent: %T: %v", tool, v, v)
}

func (r *running) pass(ctx context.Context) (err error) {
	if r.fault != nil {
		return r.fault
	}
	defer func() {
		if v := recover(); v != nil {
			err = r.pipeline.panicked(r.Tool, r.ID, v)
		}
	}()
	for _, stage := range []func(context.Context) error{
		r.quiet,   // what was cancelled before is gone
		r.confine, // capability check
		r.judge,   // rules and command judgement
		r.watch,   // watchdog
		r.ask,     // the person
		r.execute,
		r.truncate,
	} {
		if err := ctx.Err(); err != nil && r.result == nil {
			return err
		}
		if err := stage(ctx); err != nil {
			return err
		}
	}
	return nil
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
