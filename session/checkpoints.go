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
	"acp-agent/workspace"
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

// checkpoints are the messages of the user that can be taken back, with what was said and changed
// in files since (R142). undo_command.go answers the commands that do so.
type checkpoints struct {
	work         *workspace.Workspace
	conversation *conversation
	plans        *plans     // the plan as it was at each message; plans.go
	agents       *agents    // must have settled
	sources      *sources   // are told which files were put back
	performer    *performer // asks about files that someone else changed
}

func newCheckpoints(work *workspace.Workspace, c *conversation, a *agents, s *sources, p *performer) *checkpoints {
	return &checkpoints{work: work, conversation: c, plans: newPlans(c), agents: a, sources: s, performer: p}
}

// add lets what follows be taken back to the prompt.
func (c *checkpoints) add(ctx context.Context, prompt *transcript.Message) {
	c.work.History().Begin(ctx, prompt.ID)
	c.plans.note(sentPlanKey(prompt.ID))
}

// restore lets the messages of a stored session be taken back.
func (c *checkpoints) restore(stored *store.Stored) {
	c.work.History().LoadCheckpoints(stored.State, func(id string) bool {
		_, known := c.conversation.log.IsHidden(id)
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

// list lists the checkpoints, oldest first.
func (c *checkpoints) list() []checkpoint {
	messages := map[string]*transcript.Message{}
	for _, m := range c.conversation.log.Record() {
		messages[m.ID] = m
	}
	var list []checkpoint
	for i, at := range c.work.History().Checkpoints() {
		list = append(list, checkpoint{i, at, messages[at.ID]})
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

// listedPaths is how many paths an answer names.
const listedPaths = 20

// place is a path as the user reads it: below the session's directory, else whole.
func place(cwd, path string) string {
	if rel, ok := pathname.Rel(cwd, path); ok {
		path = filepath.ToSlash(rel)
	}
	return "`" + strings.ReplaceAll(kinds.Visible(path), "`", "'") + "`"
}

// outcomeText says what became of files, in a session in the directory cwd.
func outcomeText(cwd string, out undo.Outcome) string {
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
			b.WriteString("- " + place(cwd, path) + "\n")
		}
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(&b, "\nLeft as they are, %d in all:\n\n", len(out.Left))
		for i, left := range out.Left {
			if i == listedPaths {
				fmt.Fprintf(&b, "- and %d more\n", len(out.Left)-i)
				break
			}
			fmt.Fprintf(&b, "- %s: %s\n", place(cwd, left.Path), kinds.Visible(left.Why))
		}
	}
	for _, line := range out.Missed {
		fmt.Fprintf(&b, "\nCommands may have changed more, where it was not looked: %s.\n", kinds.Visible(line))
	}
	return b.String()
}
