package openai

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// Stream asks the server for one step. It blocks while the consumer does, and
// the server with it.
func (p *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		err := p.stream(ctx, req, func(c model.Chunk) bool { return yield(c, nil) })
		if err != nil && !errors.Is(err, wire.ErrStopped) {
			yield(model.Chunk{}, err)
		}
	}
}

// stream makes the step; a request that was refused for one of its optional
// parameters, for its images or for its reasoning, is made again in another way.
func (p *Provider) stream(ctx context.Context, req *model.Request, yield func(model.Chunk) bool) error {
	var without *WithoutImages // once it is tried whether images are why the request was refused
	for {
		params := p.params(req)
		images := without == nil && p.info(req.Model).Images != model.No
		body, sent := p.body(req, params, images)
		err := p.attempt(ctx, req, body, without.WrapYield(yield))
		if err != nil && (p.dropRefused(req.Model, params, err) || p.learnRule(req.Model, sent, err)) {
			continue
		}
		if warning, refused := p.ImagesRefused(req, err); refused {
			if !yield(warning) {
				return wire.ErrStopped
			}
			continue
		}
		if without == nil {
			if without = p.TryWithoutImages(req, err); without != nil {
				continue
			}
		}
		return without.Outcome(err)
	}
}

func (p *Provider) attempt(ctx context.Context, req *model.Request, body wire.Pieces, yield func(model.Chunk) bool) error {
	s := &step{yield: yield, origin: p.originOf(req.Model)}
	return p.server.Do(ctx, &wire.Exchange{
		Model: req.Model, Slow: p.Reasons(req.Model) == model.Yes, Size: body.Size(), Patience: req.Patience,
		Send:    func(ctx context.Context) (*http.Response, error) { return p.client.post(ctx, "chat/completions", body) },
		Read:    func(answer *wire.Watchdog) error { return p.read(s, answer) },
		Started: func() bool { return s.started },
	})
}

// read reads the answer to its end.
func (p *Provider) read(s *step, answer *wire.Watchdog) error {
	events := wire.NewEvents(answer, answer.SignOfLife)
	var c chunk
	for {
		kind, data, err := events.Next()
		switch {
		case err != nil && s.finish != "" && !errors.Is(err, wire.ErrTooLong):
			return p.finish(s) // complete, whatever became of the connection
		case err != nil:
			return p.server.CutError(err, s.started)
		case bytes.Equal(data, []byte("[DONE]")):
			return wire.Drain(answer, func() error { return p.finish(s) })
		}
		if err := c.decode(data); err != nil {
			return p.server.CutError(wire.ErrMalformed, s.started)
		}
		if said, is := isError(kind, data, &c); is {
			e := p.server.EventError(said)
			e.Interrupted = s.started
			return e
		}
		before, finished := s.received(), s.finish != ""
		if err := s.add(&c); err != nil {
			if errors.Is(err, wire.ErrTooManyCalls) || errors.Is(err, wire.ErrLongArguments) || errors.Is(err, errLongDetails) {
				return p.server.CutError(err, s.started)
			}
			return err
		}
		if s.received() != before && !finished {
			answer.Content() // what follows the finish has the last wait alone
		}
		switch {
		case s.finish != "" && !finished:
			p.server.Linger(answer)
		case s.started && !finished:
			answer.Answering(p.server.IdleLimit())
		}
	}
}

// finish ends a step that is complete.
func (p *Provider) finish(s *step) error {
	if s.broken() {
		return &model.Error{
			Kind: model.Transient, Message: "the model server broke the answer off: " + p.server.Clean(s.finish), Interrupted: s.started,
		}
	}
	return s.end()
}

var _ model.Provider = (*Provider)(nil)
