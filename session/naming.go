package session

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// titleRunes bounds the title that is made of the first prompt.
const titleRunes = 80

// naming gives a session its titles: one from the first prompt at once, and where the user
// chose a model for that, a better one after the first turn. It is safe for concurrent use.
type naming struct {
	life         *lifetime
	conversation *conversation
	// known takes the agent's own keys out of a text.
	known func(string) string
	// generate asks a model for a title; nil when the user chose none for that (R99).
	generate func(context.Context) (string, error)
	logger   *slog.Logger

	mu        sync.Mutex // guards what follows
	titled    bool
	generated bool // a model was asked
}

// fromPrompt names the session by its first prompt that has text.
func (n *naming) fromPrompt(prompt *transcript.Message) {
	n.mu.Lock()
	title := ""
	if !n.titled {
		title = titleOf(prompt, n.known)
		n.titled = title != ""
	}
	n.mu.Unlock()
	if title != "" {
		n.conversation.emit(transcript.TitleChanged{Title: title, At: time.Now()})
	}
}

// restore takes over the title of a session that goes on.
func (n *naming) restore(title string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.titled, n.generated = title != "", title != ""
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
	if title = kinds.Line(n.known(first), titleRunes); title != "" {
		n.conversation.emit(transcript.TitleChanged{Title: title, At: time.Now()})
	}
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
