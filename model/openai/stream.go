package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"acp-agent/model"
)

const (
	// lingerTimeout bounds the wait for usage once the finish reason is known.
	lingerTimeout = 5 * time.Second
	// drainTimeout bounds the wait for the end of the body behind [DONE]; only
	// a body read to its end leaves a connection that can be used again.
	drainTimeout = 50 * time.Millisecond
)

// Stream asks the server for one step. It blocks while the consumer does, and
// the server with it.
func (p *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		err := p.stream(ctx, req, func(c model.Chunk) bool { return yield(c, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(model.Chunk{}, err)
		}
	}
}

// stream makes the step; a request that was refused for one of its optional
// parameters, or for its images, is made again without them.
func (p *Provider) stream(ctx context.Context, req *model.Request, yield func(model.Chunk) bool) error {
	var without *withoutImages // once it is tried whether images are why the request was refused
	for {
		params := p.params(req)
		images := without == nil && p.info(req.Model).Images != model.No
		err := p.attempt(ctx, req.Model, p.body(req, params, images), without.sending(yield))
		if err != nil && p.dropRefused(req.Model, params, err) {
			continue
		}
		if warning, refused := p.imagesRefused(req, err); refused {
			if !yield(warning) {
				return errStopped
			}
			continue
		}
		if without == nil && p.mayRefuseImages(req, err) {
			without = &withoutImages{provider: p, model: req.Model, refusal: err}
			continue
		}
		return without.outcome(err)
	}
}

func (p *Provider) attempt(ctx context.Context, id string, body string, yield func(model.Chunk) bool) error {
	parent := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := newWatchdog(p.startTimeout(id), cancel)
	defer dog.stop()

	start := time.Now()
	res, err := p.client.post(ctx, "chat/completions", body)
	dog.stop()
	if parent.Err() != nil {
		closeBody(res)
		return parent.Err()
	}
	if err != nil {
		return p.requestError(ctx, err)
	}
	defer closeBody(res)
	p.opts.Logger.Debug("model server answers", "model", id, "status", res.StatusCode, "bytes", len(body), "after", time.Since(start))

	dog.body = res.Body
	dog.vain.limit, dog.alive.limit = p.contentTimeouts()
	s := &step{yield: yield}
	if p.opts.ThinkTags {
		s.think = &thinking{}
	}
	err = p.read(s, dog)
	switch {
	case err == nil, errors.Is(err, errStopped):
		return err
	case parent.Err() != nil:
		return parent.Err()
	case errors.Is(context.Cause(ctx), errIdle):
		message, hint := dog.reason()
		return &model.Error{Kind: model.Transient, Message: message, Hint: hint, Interrupted: s.begun, Err: errIdle}
	}
	return err
}

// read reads the answer to its end.
func (p *Provider) read(s *step, dog *watchdog) error {
	events := newEvents(dog)
	events.alive = dog.signOfLife
	var c chunk
	for {
		kind, data, err := events.next()
		switch {
		case err != nil && s.finish != "" && !errors.Is(err, errTooLong):
			return p.finish(s) // complete, whatever became of the connection
		case err != nil:
			return p.cut(s, err)
		case bytes.Equal(data, []byte("[DONE]")):
			dog.lastWait(drainTimeout)
			err := p.finish(s)
			_, _ = io.CopyN(io.Discard, dog, 4<<10)
			return err
		}
		if err := c.decode(data); err != nil {
			return p.cut(s, errMalformed)
		}
		if said, is := isError(kind, data, &c); is {
			e := p.eventError(said)
			e.Interrupted = s.begun
			return e
		}
		before, finished := s.received(), s.finish != ""
		if err := s.add(&c); err != nil {
			if errors.Is(err, errTooManyCalls) || errors.Is(err, errLongArguments) {
				return p.cut(s, err)
			}
			return err
		}
		if s.received() != before && !finished {
			dog.content() // what follows the finish has the last wait alone
		}
		switch {
		case s.finish != "" && !finished:
			dog.lastWait(min(lingerTimeout, p.opts.IdleTimeout))
		case s.begun && !finished:
			dog.limit = p.opts.IdleTimeout
		}
	}
}

// finish ends a step that is complete.
func (p *Provider) finish(s *step) error {
	if s.broken() {
		return &model.Error{
			Kind: model.Transient, Message: "the model server broke the answer off: " + p.clean(s.finish), Interrupted: s.begun,
		}
	}
	return s.end()
}

var errMalformed = errors.New("the model server sent an event that is not JSON")

// cut says why an answer has no end.
func (p *Provider) cut(s *step, err error) error {
	e := &model.Error{Kind: model.Transient, Interrupted: s.begun, Err: err}
	switch {
	case errors.Is(err, errWebPage):
		e.Kind, e.Message, e.Hint = model.Invalid, "the model server answered with a web page", p.baseHint()
	case errors.Is(err, errTooLong), errors.Is(err, errTooManyCalls), errors.Is(err, errLongArguments):
		e.Kind, e.Message = model.Invalid, "the model server's answer was given up: "+err.Error()
	case errors.Is(err, errMalformed):
		e.Message = err.Error()
	case errors.Is(err, io.EOF) && !s.begun:
		e.Message = "the model server ended the answer before it began"
	case errors.Is(err, io.EOF):
		e.Message = "the model server ended the answer in the middle"
	default:
		reason, _ := p.reason(err)
		e.Message = "the answer was cut off: " + reason
	}
	return e
}

// startTimeout is how long the server may keep silent before it answers.
func (p *Provider) startTimeout(id string) time.Duration {
	switch {
	case p.opts.StartTimeout > 0:
		return p.opts.StartTimeout
	case p.local, p.reasons(id):
		return max(slowStartTimeout, p.opts.IdleTimeout)
	}
	return p.opts.IdleTimeout
}

// contentTimeouts are how long the server may bring no content: without a sign of life,
// and with one.
func (p *Provider) contentTimeouts() (vain, alive time.Duration) {
	vain, alive = contentTimeout, keepAliveTimeout
	if p.local {
		alive = localKeepAliveTimeout
	}
	if p.opts.ContentTimeout > 0 {
		vain = p.opts.ContentTimeout
	}
	if p.opts.KeepAliveTimeout > 0 {
		alive = p.opts.KeepAliveTimeout
	}
	return vain, max(vain, alive)
}

func closeBody(res *http.Response) {
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
}

var _ model.Provider = (*Provider)(nil)
