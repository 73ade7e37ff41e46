package script

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"acp-agent/internal/pause"
	"acp-agent/model"
)

// DefaultModel is the id of the model that a provider offers unless
// Options.Models says otherwise.
const DefaultModel = "script"

// Options are what a script has to know of the process that plays it.
type Options struct {
	// Cwd answers ${cwd} for a request; nil means that a step which asks for it
	// fails.
	Cwd func(*model.Request) string
	// Exists reports whether there is a file, for steps that wait for one; nil means
	// that such a step fails.
	Exists func(path string) bool
	// Models are the models on offer; empty means one, DefaultModel, with that Window;
	// 0 means 128,000 tokens. All of them answer the same.
	Models []model.Info
	Window int
}

// defaultWindow is the default of Options.Window.
const defaultWindow = 128_000

// Provider returns a model that answers from the script. It is safe for
// concurrent use by several conversations (R163).
func (s *Script) Provider(opts Options) model.Provider {
	if len(opts.Models) == 0 {
		opts.Models = []model.Info{{ID: DefaultModel, Name: "Scripted model", Window: cmp.Or(opts.Window, defaultWindow)}}
	}
	return &provider{script: s, opts: opts}
}

type provider struct {
	script *Script
	opts   Options
}

// Models returns Options.Models.
func (p *provider) Models(context.Context) ([]model.Info, error) {
	return slices.Clone(p.opts.Models), nil
}

// Probe has nothing to ask.
func (p *provider) Probe(context.Context, string) ([]string, error) { return nil, nil }

func (p *provider) Describe(_ context.Context, id string) model.Info {
	for _, info := range p.opts.Models {
		if info.ID == id {
			return info
		}
	}
	return model.Info{ID: id}
}

// Stream plays the conversation's next step.
func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		err := p.play(ctx, req, func(c model.Chunk) bool { return yield(c, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(model.Chunk{}, err)
		}
	}
}

func (p *provider) play(ctx context.Context, req *model.Request, yield func(model.Chunk) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st, sc, prompt, err := p.script.nextStep(req)
	if err != nil {
		return invalid(err)
	}
	scope := newScope(req, prompt, sc, p.opts.Cwd)
	if err := p.await(ctx, st, scope); err != nil {
		return err
	}
	chunks, err := st.chunks(scope)
	if err != nil {
		return invalid(fmt.Errorf("%s:%d: %w", p.script.name, st.line, err))
	}
	for i, c := range chunks {
		if i > 0 && st.Pause > 0 {
			if err := pause.For(ctx, time.Duration(st.Pause)*time.Millisecond); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(c) {
			return errStopped
		}
	}
	return st.end(ctx, req, yield, len(chunks) > 0)
}

// looksEvery is how often a step looks for the file that it waits for.
const looksEvery = 2 * time.Millisecond

// await waits for the file of a step that has one. It polls, because the file may be made by any
// program.
func (p *provider) await(ctx context.Context, st *step, scope *scope) error {
	if st.Until == "" {
		return nil
	}
	path, err := expand(st.Until, scope.value)
	if err == nil && p.opts.Exists == nil {
		err = errors.New("there are no files here to wait for")
	}
	if err != nil {
		return invalid(fmt.Errorf("%s:%d: until: %w", p.script.name, st.line, err))
	}
	for !p.opts.Exists(path) {
		if err := pause.For(ctx, looksEvery); err != nil {
			return err
		}
	}
	return nil
}

// end streams what follows a step's content: nothing for ever, a failure, or
// the finish. started says that there was content.
func (s *step) end(ctx context.Context, req *model.Request, yield func(model.Chunk) bool, started bool) error {
	switch {
	case s.Wait != "":
		<-ctx.Done()
		return ctx.Err()
	case s.Error != nil:
		return s.Error.err(started)
	}
	if s.Usage != nil {
		usage := *s.Usage
		if !yield(model.Chunk{Kind: model.Usage, Usage: &usage}) {
			return errStopped
		}
	}
	finish := model.Chunk{Kind: model.Finish, Reason: s.Finish, Model: req.Model}
	if finish.Reason == "" {
		finish.Reason = model.Stop
		if len(s.Call) > 0 {
			finish.Reason = model.ToolCalls
		}
	}
	yield(finish)
	return nil
}

// chunks is the content of the step.
func (s *step) chunks(scope *scope) ([]model.Chunk, error) {
	if err := s.Expect.check(scope); err != nil {
		return nil, err
	}
	think, err := expand(s.Think, scope.value)
	if err != nil {
		return nil, err
	}
	say, err := expand(s.Say, scope.value)
	if err != nil {
		return nil, err
	}
	var chunks []model.Chunk
	for piece := range pieces(think, s.Chunk) {
		chunks = append(chunks, model.Chunk{Kind: model.Reasoning, Text: piece})
	}
	for piece := range pieces(say, s.Chunk) {
		chunks = append(chunks, model.Chunk{Kind: model.Text, Text: piece})
	}
	for i, c := range s.Call {
		args, err := c.arguments(scope)
		if err != nil {
			return nil, err
		}
		id := c.ID
		if id == "" {
			// The number of messages grows with each step, so no two calls of
			// a conversation share an id.
			id = fmt.Sprintf("call_%d_%d", len(scope.req.Messages), i)
		}
		chunks = append(chunks, model.Chunk{Kind: model.ToolCall, Index: i, ID: id, Name: c.Name})
		for piece := range pieces(args, s.Chunk) {
			chunks = append(chunks, model.Chunk{Kind: model.ToolCall, Index: i, ID: id, Arguments: piece})
		}
	}
	return chunks, nil
}

func (c *call) arguments(scope *scope) (string, error) {
	switch {
	case c.RawArgs != nil:
		return expand(*c.RawArgs, scope.value)
	case c.Args == nil:
		return "{}", nil
	}
	text, err := expand(string(c.Args), scope.quoted)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return "", fmt.Errorf("arguments %s: %w", text, err)
	}
	return b.String(), nil
}

// pieces cuts text after every n runes; 0 leaves it whole. Empty text has no
// pieces.
func pieces(text string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, count := 0, 0
		for i := range text {
			if n > 0 && count == n {
				if !yield(text[start:i]) {
					return
				}
				start, count = i, 0
			}
			count++
		}
		if text != "" {
			yield(text[start:])
		}
	}
}

// errStopped says that the consumer broke out of the loop.
var errStopped = errors.New("stopped by the consumer")

func invalid(err error) error {
	return &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
}
