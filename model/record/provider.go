package record

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"acp-agent/internal/record"
	"acp-agent/model"
	"acp-agent/transcript"
)

// Provider returns inner with a record of what it says, or what answers in its place from a
// recording; inner may then be nil. Without a Tape it is inner itself.
func Provider(tape *record.Tape, inner model.Provider) model.Provider {
	if tape == nil {
		return inner
	}
	return &provider{inner, tape}
}

type provider struct {
	inner model.Provider
	tape  *record.Tape
}

// name is what a model without an address is called.
const name = "model"

// Models implements model.Provider.
func (p *provider) Models(ctx context.Context) ([]model.Info, error) {
	return record.Ask(p.tape, "models", "", func() ([]model.Info, error) { return p.inner.Models(ctx) })
}

// Probe implements model.Provider.
func (p *provider) Probe(ctx context.Context, id string) ([]string, error) {
	return record.Ask(p.tape, "probe", id, func() ([]string, error) { return p.inner.Probe(ctx, id) })
}

// Describe implements model.Provider.
func (p *provider) Describe(ctx context.Context, id string) model.Info {
	return record.Value(p.tape, "describe", id, func() model.Info { return p.inner.Describe(ctx, id) })
}

// Stream implements model.Provider.
func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	if p.tape.Plays() {
		return p.play(ctx, req)
	}
	return func(yield func(model.Chunk, error) bool) {
		request := requestForm(req)
		x := p.tape.Exchange(name, func([]byte) []byte { return request })
		for chunk, err := range p.inner.Stream(ctx, req) {
			if err != nil {
				x.End(failureOf(err))
				yield(chunk, err)
				return
			}
			x.Chunk(pieceName(chunk), chunk)
			if !yield(chunk, nil) {
				x.End(failure{Stopped: true})
				return
			}
		}
		x.End(nil)
	}
}

func (p *provider) play(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		x, err := p.tape.PlayExchange(ctx, name, requestForm(req))
		if err != nil {
			yield(model.Chunk{}, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err})
			return
		}
		defer x.SkipRest()
		for {
			e, ok := x.Next(ctx)
			if !ok {
				<-ctx.Done()
				yield(model.Chunk{}, ctx.Err())
				return
			}
			if e.Kind == record.Chunk {
				var chunk model.Chunk
				if err := json.Unmarshal(e.Data, &chunk); err != nil {
					yield(chunk, err)
					return
				}
				if !yield(chunk, nil) {
					return
				}
				continue
			}
			if e.Data != nil {
				yield(model.Chunk{}, recordedError(ctx, e.Data))
			}
			return
		}
	}
}

// pieceName is the same for pieces that continue each other.
func pieceName(c model.Chunk) string {
	switch c.Kind {
	case model.Text:
		return "text"
	case model.Reasoning:
		return "reasoning"
	case model.ToolCall:
		return "call " + string(rune('0'+c.Index%10))
	}
	return "other"
}

// failure is the error of a provider.
type failure struct {
	*model.Error
	Cause     string
	Cancelled bool // by ctx
	Stopped   bool // by the consumer
}

func failureOf(err error) failure {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return failure{Cancelled: true}
	}
	known := *model.AsError(err)
	f := failure{Error: &known}
	if known.Err != nil {
		f.Cause, known.Err = known.Err.Error(), nil
	}
	return f
}

// recordedError returns a recorded error. Of a cancelled stream it waits for the cancellation
// first.
func recordedError(ctx context.Context, data []byte) error {
	var f failure
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f.Cancelled || f.Stopped {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.Error == nil {
		return errors.New(f.Cause)
	}
	if f.Cause != "" {
		f.Error.Err = errors.New(f.Cause)
	}
	return f.Error
}

// requestForm is a request as JSON, without what differs from one run to the next: times, and
// the ids of the agent.
func requestForm(req *model.Request) []byte {
	form := map[string]any{
		"model": req.Model, "system": req.System, "tools": req.Tools, "thoughtLevel": req.ThoughtLevel,
		"temperature": req.Temperature, "maxTokens": req.MaxTokens,
	}
	messages := []any{}
	for _, m := range req.Messages {
		messages = append(messages, messageForm(m))
	}
	form["messages"] = messages
	data, err := json.Marshal(form)
	if err != nil {
		return nil // strings, numbers and JSON
	}
	return data
}

func messageForm(m *transcript.Message) any {
	parts := []any{}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			parts = append(parts, map[string]any{"text": part.Text, "replaced": part.Replaced})
		case *transcript.ReasoningPart:
			parts = append(parts, map[string]any{"reasoning": part.Text})
		case *transcript.ToolPart:
			parts = append(parts, map[string]any{"call": part.Name, "input": part.Input, "state": part.State, "result": part.Text})
		case *transcript.ImagePart:
			parts = append(parts, map[string]any{"image": part.MediaType, "data": part.Data})
		case *transcript.LinkPart:
			parts = append(parts, map[string]any{"link": part.URI, "name": part.Name})
		case *transcript.ResourcePart:
			parts = append(parts, map[string]any{"resource": part.URI, "text": part.Text})
		}
	}
	return map[string]any{"role": m.Role, "parts": parts}
}
