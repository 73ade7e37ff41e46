package textcalls

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"acp-agent/model"
	"acp-agent/transcript"
)

// Mode says whether calls that are written as text are taken.
type Mode string

// The modes. Auto takes them of models that are known to write so.
const (
	Auto Mode = "auto"
	On   Mode = "on"
	Off  Mode = "off"
)

// New returns a provider that takes written calls of another one's models for calls, as
// the mode has it. Where it does not, the user is told what was written.
func New(inner model.Provider, mode Mode) model.Provider {
	return provider{inner, mode}
}

type provider struct {
	model.Provider
	mode Mode
}

// takes reports whether the written calls of a model are taken.
func (p provider) takes(ctx context.Context, id string) bool {
	switch p.mode {
	case On:
		return true
	case Off:
		return false
	}
	return p.Describe(ctx, id).TextCalls
}

// Stream implements model.Provider.
func (p provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if len(req.Tools) == 0 {
			p.Provider.Stream(ctx, req)(yield)
			return
		}
		r := &reader{takes: p.takes(ctx, req.Model), cut: opening(req.Messages)}
		for chunk, err := range p.Provider.Stream(ctx, req) {
			if err != nil {
				if text := r.flush(); text != "" && !yield(model.Chunk{Kind: model.Text, Text: text}, nil) {
					return
				}
				yield(chunk, err)
				return
			}
			for _, out := range r.read(chunk) {
				if !yield(out, nil) {
					return
				}
			}
		}
	}
}

// opening is what matters of an answer that was cut and that this one continues: the fence in
// which its last line stands, and that line. It is "" when the model answers anew.
func opening(messages []*transcript.Message) string {
	var cut string
	for _, message := range slices.Backward(messages) {
		text, ends := continuedText(message)
		if cut = text + cut; ends {
			break
		}
	}
	_, fence := places(cut)
	last := cut[strings.LastIndexByte(cut, '\n')+1:]
	if fence != "" {
		return fence + "\n" + last
	}
	return last
}

// continuedText is the text of a message of the model's to which only the agent itself has answered.
// A call, or a word of the user's, ends the search for such messages.
func continuedText(message *transcript.Message) (text string, ends bool) {
	ends = message.Synthetic
	for _, part := range message.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if message.Role == transcript.User {
				ends = ends || !part.Synthetic
			} else {
				text += part.Text
			}
		case *transcript.ReasoningPart:
		default:
			ends = true
		}
	}
	if ends {
		return "", true
	}
	return text, false
}

// maxText bounds the answer in which a call is looked for, in bytes; in a longer one all is
// text.
const maxText = 4 << 20

// reader goes through the chunks of one step.
type reader struct {
	takes bool
	cut   string          // see opening
	text  strings.Builder // the whole text of the answer; empty once it is long
	long  bool
	shown int  // how much of it was passed on
	holds bool // a written call may have started
	tried int  // how many beginnings were looked at
	calls int  // calls of the server's own
	index int  // the number after the highest of a call
}

func (r *reader) read(chunk model.Chunk) []model.Chunk {
	switch chunk.Kind {
	case model.Text:
		if r.long = r.long || r.text.Len()+len(chunk.Text) > maxText; r.long {
			return r.giveUp(chunk)
		}
		r.text.WriteString(chunk.Text)
		if !r.takes {
			return []model.Chunk{chunk}
		}
		if text := r.release(); text != "" {
			return []model.Chunk{{Kind: model.Text, Text: text}}
		}
		return nil
	case model.ToolCall:
		r.calls++
		r.index = max(r.index, chunk.Index+1)
		return r.withText(chunk)
	case model.Reasoning:
		return r.withText(chunk)
	case model.Finish:
		return r.finish(chunk)
	}
	return []model.Chunk{chunk}
}

// withText passes on what was kept back, and then a chunk that ends the text.
func (r *reader) withText(chunk model.Chunk) []model.Chunk {
	if text := r.flush(); text != "" {
		return []model.Chunk{{Kind: model.Text, Text: text}, chunk}
	}
	return []model.Chunk{chunk}
}

// giveUp passes on all text, with what was kept back, and keeps none of it.
func (r *reader) giveUp(chunk model.Chunk) []model.Chunk {
	chunk.Text = r.flush() + chunk.Text
	r.text.Reset()
	r.shown = 0
	return []model.Chunk{chunk}
}

func (r *reader) flush() string {
	if !r.takes {
		return ""
	}
	text := r.text.String()[r.shown:]
	r.shown, r.holds = r.text.Len(), false
	return text
}

// release is what of the text can be shown already: all before the place where a written
// call begins, or may begin.
func (r *reader) release() string {
	text := r.text.String()
	if r.holds {
		return ""
	}
	until := r.shown
	for until < len(text) {
		next := strings.IndexAny(text[until:], "<[")
		if next < 0 {
			until = len(text)
			break
		}
		until += next
		begins, may := beginsCall(text[until:])
		if begins && r.tried < maxPlaces {
			r.tried++
			r.holds = mayStand(text, until, r.cut)
		}
		if r.holds || may {
			break
		}
		until++
	}
	out := text[r.shown:until]
	r.shown = until
	return out
}

// mayStand reports whether a written call may begin at a place of a text, in which the
// tags still have the marks of their family.
func mayStand(text string, at int, cut string) bool {
	plain := text
	if mark := familyTag().FindStringIndex(text[at:]); mark != nil && mark[0] == 0 {
		plain = text[:at] + "<" + text[at+mark[1]:]
	}
	return slices.Contains(placesAfter(cut, plain), at)
}

// longestTag bounds what may still become the beginning of a call, in bytes.
const longestTag = 48

// beginsCall reports whether a text begins with a written call, or may when more of it comes.
func beginsCall(text string) (begins, may bool) {
	plain := text
	if at := familyTag().FindStringIndex(text); at != nil && at[0] == 0 {
		plain = "<" + text[at[1]:]
	}
	for _, start := range starts {
		switch {
		case strings.HasPrefix(plain, start):
			return true, false
		case strings.HasPrefix(start, plain):
			may = true
		}
	}
	if may || len(text) > longestTag || strings.ContainsAny(text, ">\n") {
		return false, may
	}
	for _, mark := range []string{"<", "<minimax:", "<|", "<｜", "<‖", "< |", "< ｜"} {
		if strings.HasPrefix(mark, text) || strings.HasPrefix(text, mark) && strings.Trim(text[len(mark):], "|｜‖ DSML") == "" {
			return false, true
		}
	}
	return false, false
}

// finish makes calls of what was kept back, when it is nothing else.
func (r *reader) finish(chunk model.Chunk) []model.Chunk {
	if r.calls > 0 || chunk.Reason == model.Length || chunk.Reason == model.Refusal {
		return r.withText(chunk)
	}
	before, calls, ok := parse(r.text.String(), r.cut)
	switch {
	case !ok:
		return r.withText(chunk)
	case !r.takes:
		return []model.Chunk{{
			Kind: model.Warning, Title: "A tool call was written as text",
			Text: fmt.Sprintf("The model wrote a call of %s as text, and it was not run. If its server cannot be set up to read such calls, set model.text_calls to \"on\".", calls[0].Name),
		}, chunk}
	}
	var out []model.Chunk
	if len(before) > r.shown {
		out = append(out, model.Chunk{Kind: model.Text, Text: before[r.shown:]})
	}
	for i, call := range calls {
		out = append(out, model.Chunk{
			Kind: model.ToolCall, Index: r.index + i, ID: fmt.Sprintf("text_%d", r.index+i), Name: call.Name, Arguments: call.Arguments,
		})
	}
	chunk.Reason = model.ToolCalls
	return append(out, chunk)
}
