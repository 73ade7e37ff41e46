package session

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/store"
	"acp-agent/transcript"
	"acp-agent/workspace/undo"
)

// storedContents keeps what stood in files with the stored session.
type storedContents struct {
	store *store.Store
	id    string
}

// Put implements timeline.Contents.
func (c storedContents) Put(content io.Reader) (name string, err error) {
	blob, err := c.store.PutBlob(c.id, content)
	return blob.Digest, err
}

// Open implements timeline.Contents.
func (c storedContents) Open(name string) (io.ReadCloser, error) { return c.store.OpenBlob(c.id, name) }

// addCheckpoint lets what follows be taken back to the prompt (R142).
func (s *Session) addCheckpoint(r *runningTurn) error {
	s.work.History().Begin(r.ctx, r.prompt.ID)
	s.conversation.plans.note(sentPlanKey(r.prompt.ID))
	return nil
}

// restoreCheckpoints lets the messages of a stored session be taken back.
func (s *Session) restoreCheckpoints(stored *store.Stored) {
	s.work.History().LoadCheckpoints(stored.State, func(id string) bool {
		_, known := s.conversation.log.IsHidden(id)
		return known
	})
}

// checkpoint is a message of the user that can be taken back.
type checkpoint struct {
	// at is its number in the history, from 0.
	at int
	undo.Checkpoint
	message *transcript.Message // nil when it is not in the record
}

// checkpoints lists the checkpoints, oldest first.
func (s *Session) checkpoints() []checkpoint {
	messages := map[string]*transcript.Message{}
	for _, m := range s.conversation.log.Record() {
		messages[m.ID] = m
	}
	var list []checkpoint
	for i, c := range s.work.History().Checkpoints() {
		list = append(list, checkpoint{i, c, messages[c.ID]})
	}
	return list
}

// hide cuts the conversation off before the first of some messages that is part of it.
func (c *conversation) hide(ids []string) {
	for _, id := range ids {
		if hidden, known := c.log.IsHidden(id); known && !hidden {
			c.note(transcript.Hidden{MessageID: id})
			break
		}
	}
	c.memo = model.Memo{}
}

// show brings back what hide cut off at the first of some messages.
func (c *conversation) show(ids []string) {
	for _, id := range ids {
		if hidden, known := c.log.IsHidden(id); known && hidden {
			c.note(transcript.Shown{MessageID: id})
			break
		}
	}
	c.memo = model.Memo{}
}

// unsettled says why nothing can be taken back at the moment; "" when it can.
func (s *Session) unsettled(ctx context.Context) string {
	if n := s.agents.tree.ActiveCount(); n > 0 {
		return "Subagents are still at work, and may change files. Wait for them, or stop them with `/tasks stop all`; then repeat the command.\n"
	}
	if err := s.agents.tools.WaitForAbandoned(ctx); err != nil {
		return "Nothing was changed: " + kinds.Visible(err.Error()) + "\n"
	}
	return ""
}

// filesPutBack tells language servers and the rules of the project what an undo or a redo did.
func (s *Session) filesPutBack(paths []string) {
	if len(paths) > 0 {
		s.sources.languages.Changed(paths...)
		s.rules.project.filesChanged(paths)
	}
}

// listedPaths is how many paths an answer names.
const listedPaths = 20

// place is a path as the user reads it: below the session's directory, else whole.
func (s *Session) place(path string) string {
	if rel, ok := pathname.Rel(s.work.Session().Cwd, path); ok {
		path = filepath.ToSlash(rel)
	}
	return "`" + strings.ReplaceAll(kinds.Visible(path), "`", "'") + "`"
}

// outcomeText says what became of files.
func (s *Session) outcomeText(out undo.Outcome) string {
	var b strings.Builder
	if len(out.Changed) == 0 {
		b.WriteString("No file was changed.\n")
	} else {
		fmt.Fprintf(&b, "Put back, %d in all:\n\n", len(out.Changed))
		for i, path := range out.Changed {
			if i == listedPaths {
				fmt.Fprintf(&b, "- and %d more\n", len(out.Changed)-i)
				break
			}
			b.WriteString("- " + s.place(path) + "\n")
		}
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(&b, "\nLeft as they are, %d in all:\n\n", len(out.Left))
		for i, left := range out.Left {
			if i == listedPaths {
				fmt.Fprintf(&b, "- and %d more\n", len(out.Left)-i)
				break
			}
			fmt.Fprintf(&b, "- %s: %s\n", s.place(left.Path), kinds.Visible(left.Why))
		}
	}
	for _, line := range out.Missed {
		fmt.Fprintf(&b, "\nCommands may have changed more, where it was not looked: %s.\n", kinds.Visible(line))
	}
	return b.String()
}
