package anthropic

import (
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

// stream makes the step; a request that was refused for something it can do without is made
// again without it.
func (p *Provider) stream(ctx context.Context, req *model.Request, yield func(model.Chunk) bool) error {
	var without relief
	for {
		a := p.abilities(req.Model)
		t := p.thinkingOf(req, &a, without)
		params := p.params(req, &t)
		err := p.attempt(ctx, req, &t, p.body(req, params, p.replayer(req, t.replays(&a))), yield)
		warning, again := p.learnRefusal(req, params, t.limit, &without, err)
		if !again {
			return err
		}
		if warning.Title != "" && !yield(warning) {
			return wire.ErrStopped
		}
	}
}

func (p *Provider) attempt(ctx context.Context, req *model.Request, t *thinking, body string, yield func(model.Chunk) bool) error {
	s := &step{yield: yield, origin: p.origin(req.Model)}
	return p.server.Do(ctx, &wire.Exchange{
		// A prompt of hundreds of thousands of tokens is read in silence for minutes.
		Model: req.Model, Slow: true, Size: len(body), Patience: req.Patience,
		Send:    func(ctx context.Context) (*http.Response, error) { return p.post(ctx, body, t.kind == "enabled") },
		Read:    func(answer *wire.Watchdog) error { return p.read(s, answer) },
		Started: func() bool { return s.started },
	})
}

// read reads the answer to its end.
func (p *Provider) read(s *step, answer *wire.Watchdog) error {
	events := wire.NewEvents(answer, answer.SignOfLife)
	var e event
	for {
		kind, data, err := events.Next()
		switch {
		case err != nil && s.stop != "" && !errors.Is(err, wire.ErrTooLong):
			return s.end() // complete, whatever became of the connection
		case err != nil:
			return p.server.CutError(err, s.started)
		case string(data) == "[DONE]":
			continue // some other servers end so
		}
		if err := e.decode(data); err != nil {
			return p.server.CutError(wire.ErrMalformed, s.started)
		}
		if e.failed(kind) {
			failure := p.server.EventError(data)
			failure.Interrupted = s.started
			return failure
		}
		before, stopped := s.received, s.stop != ""
		if err := s.add(&e); err != nil {
			if errors.Is(err, wire.ErrTooManyCalls) || errors.Is(err, wire.ErrLongArguments) {
				return p.server.CutError(err, s.started)
			}
			return err
		}
		switch {
		case s.ended:
			return wire.Drain(answer, s.end)
		case s.stop != "" && !stopped:
			p.server.Linger(answer)
		case s.received != before && !stopped:
			answer.Content()
			answer.Answering(p.server.IdleLimit())
		}
	}
}
