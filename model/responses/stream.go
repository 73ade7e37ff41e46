package responses

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"acp-agent/model"
	"acp-agent/model/openai"
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

// stream makes the step; a request that was refused for something it can do without is made
// again without it.
func (p *Provider) stream(ctx context.Context, req *model.Request, yield func(model.Chunk) bool) error {
	var without *openai.WithoutImages // once it is tried whether images are why the request was refused
	for {
		params := p.params(req)
		err := p.attempt(ctx, req, p.body(req, params, without == nil), without.WrapYield(yield))
		if warning, again := p.learnRefusal(req, params, err); again {
			if warning.Title != "" && !yield(warning) {
				return wire.ErrStopped
			}
			continue
		}
		if without == nil {
			if without = p.chat.TryWithoutImages(req, err); without != nil {
				continue
			}
		}
		return without.Outcome(err)
	}
}

func (p *Provider) attempt(ctx context.Context, req *model.Request, body wire.Pieces, yield func(model.Chunk) bool) error {
	s := &step{yield: yield, origin: p.origin(req.Model)}
	return p.server.Do(ctx, &wire.Exchange{
		Model: req.Model, Slow: p.slow(req.Model), Size: body.Size(), Patience: req.Patience,
		Send:    func(ctx context.Context) (*http.Response, error) { return p.chat.Post(ctx, "responses", body) },
		Read:    func(answer *wire.Watchdog) error { return p.read(s, answer, req.Model) },
		Started: func() bool { return s.started },
	})
}

// slow reports whether a model may think out of sight.
func (p *Provider) slow(id string) bool { return p.chat.Reasons(id) != model.No }

// read reads the answer to its end.
func (p *Provider) read(s *step, answer *wire.Watchdog, id string) error {
	events := wire.NewEvents(answer, answer.SignOfLife)
	var e event
	for {
		kind, data, err := events.Next()
		switch {
		case err != nil:
			return p.server.CutError(err, s.started)
		case string(data) == "[DONE]":
			continue // some other servers end so, after the last event
		}
		if err := e.decode(data); err != nil {
			return p.server.CutError(wire.ErrMalformed, s.started)
		}
		if said, is := e.failed(kind, data); is {
			failure := p.server.EventError(said)
			failure.Interrupted = s.started
			return failure
		}
		before := s.received
		if err := s.add(&e); err != nil {
			switch {
			case errors.Is(err, wire.ErrTooManyCalls), errors.Is(err, wire.ErrLongArguments), errors.Is(err, errLongItems):
				return p.server.CutError(err, s.started)
			case errors.Is(err, wire.ErrStopped):
				return err
			}
			return p.server.CutError(wire.ErrMalformed, s.started)
		}
		switch {
		case s.final != nil:
			return wire.Drain(answer, s.finish)
		case s.received != before:
			answer.Content()
		case e.Type == "keepalive":
			answer.SignOfLife()
		}
		limit := p.server.IdleLimit()
		if s.thinks() {
			limit = max(limit, p.server.StartLimit(p.slow(id)))
		}
		answer.Answering(limit)
	}
}
