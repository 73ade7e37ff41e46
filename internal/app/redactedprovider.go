package app

import (
	"context"
	"iter"

	"acp-agent/internal/redact"
	"acp-agent/model"
)

// redactedProvider is a model server with our keys taken out of its answers: a key that a server
// repeats must not be shown, stored or passed to a tool.
type redactedProvider struct {
	model.Provider
	keys *redact.Values
}

// Stream implements model.Provider.
func (d redactedProvider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	inner := d.Provider.Stream(ctx, req)
	if d.keys.Empty() {
		return inner
	}
	return func(yield func(model.Chunk, error) bool) {
		answer := redactedAnswer{keys: d.keys, yield: yield}
		for chunk, err := range inner {
			if err != nil {
				if answer.flush() {
					yield(chunk, err)
				}
				return
			}
			if !answer.pass(chunk) {
				return
			}
		}
		answer.flush()
	}
}

// redactedAnswer is one answer on its way.
type redactedAnswer struct {
	keys  *redact.Values
	yield func(model.Chunk, error) bool
	// open are the texts without an end so far, in the order in which they started.
	open []*openText
}

// openText is a text, or the arguments of a call, of which the end may be held back.
type openText struct {
	kind   model.ChunkKind
	index  int
	stream redact.Stream
}

// pass hands on a chunk. It reports whether more is wanted. Data for replay goes through
// as it came or not at all: a signature holds for these bytes alone.
func (a *redactedAnswer) pass(chunk model.Chunk) bool {
	if replay := string(chunk.Replay); a.keys.Known(replay) != replay {
		chunk.Replay = nil
	}
	switch chunk.Kind {
	case model.Text, model.Reasoning:
		if len(a.open) > 0 && a.open[len(a.open)-1].kind != chunk.Kind && !a.flush() {
			return false
		}
		chunk.Text = a.streamOf(chunk).Next(chunk.Text)
		if chunk.Replay != nil { // the block ends here, and what is held back belongs to it
			chunk.Text += a.streamOf(chunk).Rest()
		}
		return chunk.Text == "" && chunk.Replay == nil && chunk.Origin == "" || a.yield(chunk, nil)
	case model.ToolCall:
		chunk.Name, chunk.Arguments = a.keys.Known(chunk.Name), a.streamOf(chunk).Next(chunk.Arguments)
		return a.yield(chunk, nil)
	}
	return a.flush() && a.yield(chunk, nil)
}

// streamOf is the stream that a chunk belongs to.
func (a *redactedAnswer) streamOf(chunk model.Chunk) *redact.Stream {
	for _, text := range a.open {
		if text.kind == chunk.Kind && text.index == chunk.Index {
			return &text.stream
		}
	}
	text := &openText{kind: chunk.Kind, index: chunk.Index, stream: redact.Stream{Values: a.keys}}
	a.open = append(a.open, text)
	return &text.stream
}

// flush hands on what was held back. It reports whether more is wanted.
func (a *redactedAnswer) flush() bool {
	open := a.open
	a.open = nil
	for _, text := range open {
		rest := text.stream.Rest()
		if rest == "" {
			continue
		}
		chunk := model.Chunk{Kind: text.kind, Index: text.index, Arguments: rest}
		if text.kind != model.ToolCall {
			chunk.Text, chunk.Arguments = rest, ""
		}
		if !a.yield(chunk, nil) {
			return false
		}
	}
	return true
}
