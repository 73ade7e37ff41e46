package session

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// titleRunes bounds the title that is made of the first prompt.
const titleRunes = 80

// naming gives a session its titles: the first line of the first prompt at once, a title from a
// model after the first turn where the user chose a model for that, and the one that the user
// writes, which nothing replaces. It is safe for concurrent use.
type naming struct {
	namingOptions

	mu        sync.Mutex // guards what follows
	title     string     // "" before the first one
	generated bool       // a model was asked, or the user chose the title
	chosen    bool       // the user chose the title, which no model replaces
}

// namingOptions are what a naming is made of.
type namingOptions struct {
	sessionID string
	life      *lifetime
	// emit passes an event on to the client. It is called with mu held, so that the title that was
	// set last is also emitted last; it does not use the naming.
	emit func(transcript.Event)
	// clean takes the agent's own keys out of a text.
	clean func(string) string
	// generate asks a model for a title; nil when the user chose none for that (R99).
	generate func(context.Context) (string, error)
	logger   *slog.Logger
	tape     *record.Tape
}

// set sets the title, unless the user chose another one. An empty title changes nothing.
func (n *naming) set(title string, byUser bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if title == "" || n.chosen && !byUser {
		return
	}
	n.title, n.chosen, n.generated = title, n.chosen || byUser, n.generated || byUser
	n.emit(transcript.TitleChanged{Title: title, At: record.Value(n.tape, "time", "", time.Now)})
}

// command is /title: it shows the title, or makes what follows the title.
func (n *naming) command(text string) string {
	if text != "" {
		n.set(kinds.Line(n.clean(text), titleRunes), true)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.title == "" {
		return "This session has no title yet.\n"
	}
	return "The title of this session is " + code(n.title) + ".\n"
}

// fromPrompt names the session by its first prompt that has text.
func (n *naming) fromPrompt(prompt *transcript.Message) {
	n.mu.Lock()
	titled := n.title != ""
	n.mu.Unlock()
	if !titled {
		n.set(titleOf(prompt, n.clean), false)
	}
}

// restore sets the stored title of a resumed session.
func (n *naming) restore(title string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.title, n.generated = title, title != ""
}

// afterTurn asks a model for a title once the answer of the first turn has been delivered.
func (n *naming) afterTurn(t *Turn) {
	if n.generate == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.generated {
		return
	}
	n.generated = true
	n.life.start(func() {
		select {
		case <-t.released:
			n.generateTitle()
		case <-n.life.ctx.Done():
		}
	})
}

func (n *naming) generateTitle() {
	title, err := n.generate(n.life.ctx)
	if err != nil {
		n.logger.Info("no title was generated", "session", n.sessionID, "error", err.Error())
		return
	}
	first, _, _ := strings.Cut(title, "\n")
	first = strings.Trim(first, "\"'` ")
	n.set(kinds.Line(n.clean(first), titleRunes), false)
}

// titleOf returns the first line with text of a prompt, or the name of what it mentions. clean sees
// the whole line, because a key of which the end is cut off would not be found.
func titleOf(prompt *transcript.Message, clean func(string) string) string {
	for line := range strings.Lines(prompt.Typed()) {
		if title := kinds.Line(clean(line), titleRunes); title != "" {
			return title
		}
	}
	for _, part := range prompt.Parts {
		if link, ok := part.(*transcript.LinkPart); ok {
			return kinds.Line(clean(link.Name), titleRunes)
		}
	}
	return ""
}
