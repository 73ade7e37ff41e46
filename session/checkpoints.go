package session

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"acp-agent/compaction"
	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/store"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/undo"
)

// storedContents keeps former contents of files as blobs of the stored session.
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

// checkpoints are the messages of the user that /undo and /rewind can take back, with what was said
// and changed in files since (R142). undo_command.go has the commands.
type checkpoints struct {
	work         *workspace.Workspace
	conversation *conversation
	plans        *plans     // the plan as it was at each message; plans.go
	agents       *agents    // none may be working while files are put back
	sources      *sources   // language servers and trust depend on the files
	performer    *performer // asks about files that someone else changed
}

func newCheckpoints(work *workspace.Workspace, c *conversation, a *agents, s *sources, p *performer) *checkpoints {
	return &checkpoints{work: work, conversation: c, plans: newPlans(c), agents: a, sources: s, performer: p}
}

// add makes the prompt a checkpoint, to which later changes can be taken back.
func (c *checkpoints) add(ctx context.Context, prompt *transcript.Message) {
	c.work.History().Begin(ctx, prompt.ID)
	c.plans.note(sentPlanKey(prompt.ID))
}

// restore loads the checkpoints of a stored session whose messages are in its record.
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

// hide removes, for the model, the first of the messages that it still sees and all that follows.
func (c *conversation) hide(ids []string) {
	c.cut(ids, false, func(id string) transcript.Event { return transcript.Hidden{MessageID: id} })
}

// show brings back what hide removed at the first of the messages.
func (c *conversation) show(ids []string) {
	c.cut(ids, true, func(id string) transcript.Event { return transcript.Shown{MessageID: id} })
}

// cut notes an event for the first of some messages that is hidden, or not, and tells how full
// the model's window is then, by an estimate of what was taken out or brought back.
func (c *conversation) cut(ids []string, hidden bool, event func(id string) transcript.Event) {
	estimate := func() int { return new(compaction.Meter).Estimate(c.log.Messages()) }
	before := estimate()
	for _, id := range ids {
		if is, known := c.log.IsHidden(id); known && is == hidden {
			c.note(event(id))
			break
		}
	}
	c.memo = model.Memo{}
	if _, last := c.account.now(); last.Used > 0 {
		c.emit(transcript.UsageChanged{Used: max(0, last.Used+estimate()-before), Size: last.Size})
	}
}

// listedPaths is how many paths an answer names.
const listedPaths = 20

// shownPath is a path in an answer: relative below cwd, else absolute.
func shownPath(cwd, path string) string {
	if rel, ok := pathname.Rel(cwd, path); ok {
		path = filepath.ToSlash(rel)
	}
	return "`" + strings.ReplaceAll(kinds.Visible(path), "`", "'") + "`"
}

// pathList lists paths, the first of them where there are many.
func pathList(cwd string, paths []string) string {
	var shown []string
	for _, path := range paths {
		shown = append(shown, shownPath(cwd, path))
	}
	return "- " + strings.Join(firstOf(shown, listedPaths), "\n- ") + "\n"
}

// outcomeText lists the files that were put back and the files that were not, in a session in cwd.
func outcomeText(cwd string, out undo.Outcome) string {
	var b strings.Builder
	if len(out.Changed) == 0 {
		b.WriteString("No file was changed.\n")
	} else {
		fmt.Fprintf(&b, "Put back, %d in all:\n\n", len(out.Changed))
		b.WriteString(pathList(cwd, out.Changed))
	}
	if len(out.Left) > 0 {
		fmt.Fprintf(&b, "\nLeft as they are, %d in all:\n\n", len(out.Left))
		var left []string
		for _, l := range out.Left {
			left = append(left, shownPath(cwd, l.Path)+": "+kinds.Visible(l.Why))
		}
		b.WriteString("- " + strings.Join(firstOf(left, listedPaths), "\n- ") + "\n")
	}
	for _, line := range out.Missed {
		fmt.Fprintf(&b, "\nCommands may have changed more, where it was not looked: %s.\n", kinds.Visible(line))
	}
	return b.String()
}
