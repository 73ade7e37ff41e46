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

// naming gives a session its titles: one from the first prompt at once, where the user chose
// a model for that, a better one after the first turn, and the one that the user writes. It is safe for concurrent use.
type naming struct {
	life         *lifetime
	conversation *conversation
	// known takes the agent's own keys out of a text.
	known func(string) string
	// generate asks a model for a title; nil when the user chose none for that (R99).
	generate func(context.Context) (string, error)
	logger   *slog.Logger
	tape     *record.Tape

	mu        sync.Mutex // guards what follows
	title     string     // "" before the first one
	generated bool       // a model was asked, or the user chose the title
	chosen    bool       // the user chose the title, which no model replaces
}

// set makes a title the session's, unless the user chose another one.
func (n *naming) set(title string, byUser bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if title == "" || n.chosen && !byUser {
		return
	}
	n.title, n.chosen, n.generated = title, n.chosen || byUser, n.generated || byUser
	n.conversation.emit(transcript.TitleChanged{Title: title, At: record.Value(n.tape, "time", "", time.Now)})
}

// command is /title: it shows the title, or makes what follows the title.
func (n *naming) command(text string) string {
	if text != "" {
		n.set(kinds.Line(n.known(text), titleRunes), true)
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
		n.set(titleOf(prompt, n.known), false)
	}
}

// restore takes over the title of a session that goes on.
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
		n.logger.Info("no title was generated", "session", n.conversation.sessionID, "error", err.Error())
		return
	}
	first, _, _ := strings.Cut(title, "\n")
	first = strings.Trim(first, "\"'` ")
	n.set(kinds.Line(n.known(first), titleRunes), false)
}

// titleOf takes the first line with text of a prompt, or the name of what it
// mentions. clean sees the whole of it before it is cut.
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
