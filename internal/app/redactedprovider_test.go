package app

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"testing"

	"acp-agent/internal/redact"
	"acp-agent/model"
)

// told is a provider that tells chunks.
type told struct {
	model.Provider
	chunks []model.Chunk
	err    error
}

func (p told) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, chunk := range p.chunks {
			if !yield(chunk, nil) {
				return
			}
		}
		if p.err != nil {
			yield(model.Chunk{}, p.err)
		}
	}
}

// A key that comes in pieces is taken out, all else arrives, in order, and nothing is
// held back beyond the end of its text.
func TestRedactedProvider(t *testing.T) {
	keys := &redact.Values{}
	keys.Add("key-0123456789")
	text := func(s string) model.Chunk { return model.Chunk{Kind: model.Text, Text: s} }
	thought := func(s string) model.Chunk { return model.Chunk{Kind: model.Reasoning, Text: s} }
	args := func(i int, s string) model.Chunk {
		return model.Chunk{Kind: model.ToolCall, Index: i, ID: "id", Name: "bash", Arguments: s}
	}
	grown := func(i int, s string) model.Chunk {
		return model.Chunk{Kind: model.ToolCall, Index: i, Arguments: s}
	}
	held := func(s, data string) model.Chunk {
		return model.Chunk{Kind: model.Reasoning, Text: s, Replay: json.RawMessage(data)}
	}
	signed := func(data string) model.Chunk { return held("", data) }
	finish := model.Chunk{Kind: model.Finish, Reason: model.Stop}
	tests := []struct {
		name      string
		in, want  []model.Chunk
		err       error
		takesOnly int
	}{
		{"nothing of it", []model.Chunk{text("a"), text("b"), finish}, []model.Chunk{text("a"), text("b"), finish}, nil, 0},
		{"in pieces", []model.Chunk{text("a key-01"), text("2345"), text("6789 b"), finish}, []model.Chunk{text("a "), text("[redacted] b"), finish}, nil, 0},
		{"started, and not it", []model.Chunk{text("a key-0"), text("x"), finish}, []model.Chunk{text("a "), text("key-0x"), finish}, nil, 0},
		{"started at the end", []model.Chunk{text("a key"), finish}, []model.Chunk{text("a "), text("key"), finish}, nil, 0},
		{"started before another text", []model.Chunk{thought("a k"), text("b"), finish}, []model.Chunk{thought("a "), thought("k"), text("b"), finish}, nil, 0},
		{"arguments side by side", []model.Chunk{args(0, "key-0"), args(1, "x"), args(0, "123456789"), finish}, []model.Chunk{args(0, ""), args(1, "x"), args(0, "[redacted]"), finish}, nil, 0},
		{"arguments that end so", []model.Chunk{args(0, `{"k`), finish}, []model.Chunk{args(0, `{"`), grown(0, "k"), finish}, nil, 0},
		{"broken off", []model.Chunk{text("a k")}, []model.Chunk{text("a "), text("k")}, errors.New("gone"), 0},
		{"no end", []model.Chunk{text("a k")}, []model.Chunk{text("a "), text("k")}, nil, 0},
		{"a block that ends", []model.Chunk{thought("a k"), signed(`{"s":1}`), thought("e"), finish}, []model.Chunk{thought("a "), held("k", `{"s":1}`), thought("e"), finish}, nil, 0},
		{"data with a key", []model.Chunk{thought("a"), signed(`"key-0123456789"`), finish}, []model.Chunk{thought("a"), finish}, nil, 0},
		{"an origin", []model.Chunk{{Kind: model.Text, Origin: "o"}, finish}, []model.Chunk{{Kind: model.Text, Origin: "o"}, finish}, nil, 0},
		{"left early", []model.Chunk{text("a k"), finish}, []model.Chunk{text("a ")}, nil, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []model.Chunk
			var failed error
			for chunk, err := range (redactedProvider{told{chunks: test.in, err: test.err}, keys}).Stream(t.Context(), nil) {
				if err != nil {
					failed = err
					continue
				}
				got = append(got, chunk)
				if test.takesOnly == len(got) {
					break
				}
			}
			if !reflect.DeepEqual(got, test.want) || !errors.Is(failed, test.err) {
				t.Errorf("got  %+v, %v\nwant %+v", got, failed, test.want)
			}
		})
	}
}
