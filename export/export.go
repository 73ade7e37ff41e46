package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"acp-agent/store"
	"acp-agent/transcript"
)

// Format is a form of an exported conversation.
type Format string

// The forms. Text is for a terminal.
const (
	JSON     Format = "json"
	Markdown Format = "markdown"
	HTML     Format = "html"
	Text     Format = "text"
)

// ParseFormat reads the name of a form, or the end of a file's name.
func ParseFormat(name string) (Format, error) {
	switch strings.ToLower(strings.TrimPrefix(name, ".")) {
	case "json", "jsonl", "ndjson":
		return JSON, nil
	case "markdown", "md":
		return Markdown, nil
	case "html", "htm":
		return HTML, nil
	}
	return "", fmt.Errorf("%q is not a form of export: json, markdown or html", name)
}

// Extension is how the name of a file in this form ends, with the dot.
func (f Format) Extension() string {
	switch f {
	case JSON:
		return ".jsonl"
	case Markdown:
		return ".md"
	case HTML:
		return ".html"
	}
	return ".txt"
}

// Conversation is what is exported.
type Conversation struct {
	Info store.Info
	Plan []transcript.PlanEntry
	// Messages can be ranged over several times. An error ends it.
	Messages iter.Seq2[*transcript.Message, error]
	// Decisions say who allowed or refused a call, by its id. The store does not have them;
	// the audit does.
	Decisions map[string]Decision
	// Price returns what a model call cost in US dollars, 0 where that is not known. nil means that
	// no price is known.
	Price func(model string, u transcript.Usage) float64
	// Rules are the rules that the user's answers added in the session, one a line. Only Text has them.
	Rules []string
	// Notes are what the reader should know of the record, such as what could not be read.
	Notes []string
}

// Options say how a conversation is exported.
type Options struct {
	// Redact, unless nil, takes out what should not be shared.
	Redact *Redaction
	// Color allows the escape sequences of a terminal in Text; Thoughts shows thoughts there, and
	// Steps a line for each request to the model: when, which model, its tokens, and the digest of
	// the system prompt.
	Color, Thoughts, Steps bool
	// Width is how many columns Text has for a rule between turns; zero means 80.
	Width int
}

// Of is the conversation of a stored session.
func Of(st *store.Stored) Conversation {
	c := Conversation{Info: st.Info, Plan: st.Memory.Plan, Messages: st.Messages()}
	if st.Interrupted {
		c.Notes = append(c.Notes, "The last turn was not finished when this was written.")
	}
	if !st.Damage.None() {
		c.Notes = append(c.Notes, "Not everything of the record could be read: "+st.Damage.String())
	}
	return c
}

// Write writes a conversation. It stops with the error of ctx when that ends.
func Write(ctx context.Context, w io.Writer, f Format, c Conversation, o Options) error {
	c.Messages = until(ctx, c.Messages)
	if o.Redact != nil {
		var err error
		if c, err = o.Redact.apply(c); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case JSON:
		err = writeJSON(out, c)
	case Markdown:
		err = writeMarkdown(out, c)
	case HTML:
		err = writeHTML(out, c)
	case Text:
		err = writeText(out, c, o)
	default:
		err = fmt.Errorf("%q is not a form of export", f)
	}
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// until ends messages with the error of ctx.
func until(ctx context.Context, messages iter.Seq2[*transcript.Message, error]) iter.Seq2[*transcript.Message, error] {
	return func(yield func(*transcript.Message, error) bool) {
		for m, err := range messages {
			if ended := context.Cause(ctx); ended != nil {
				yield(nil, ended)
				return
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// Collect keeps messages in memory, for a conversation that is not in a store.
func Collect(messages []*transcript.Message) iter.Seq2[*transcript.Message, error] {
	return func(yield func(*transcript.Message, error) bool) {
		for _, m := range slices.Clone(messages) {
			if !yield(m, nil) {
				return
			}
		}
	}
}
