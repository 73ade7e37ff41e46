package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/undo"
)

const (
	undoUsage   = "`/undo` takes back your last message, `/undo n` the last n. `/checkpoints` lists them.\n"
	rewindUsage = "`/rewind NUMBER` takes back that message of yours and everything since. `/checkpoints` lists the numbers.\n"
	noUndo      = "There is no message that could be taken back.\n"
)

// undo is /undo.
func (c *checkpoints) undo(ctx context.Context, rest string) string {
	n := 1
	if rest != "" {
		var err error
		if n, err = strconv.Atoi(rest); err != nil || n < 1 {
			return undoUsage
		}
	}
	live := liveOf(c.list())
	switch {
	case len(live) == 0:
		return noUndo
	case n > len(live):
		return fmt.Sprintf("Only %d of your messages can be taken back. `/checkpoints` lists them.\n", len(live))
	}
	return c.undoTo(ctx, live, len(live)-n)
}

// rewind is /rewind.
func (c *checkpoints) rewind(ctx context.Context, rest string) string {
	n, err := strconv.Atoi(rest)
	live := liveOf(c.list())
	switch {
	case err != nil:
		return rewindUsage
	case len(live) == 0:
		return noUndo
	case n < 1 || n > len(live):
		return fmt.Sprintf("There is no message with the number %d. `/checkpoints` lists the messages that can be taken back.\n", n)
	}
	return c.undoTo(ctx, live, n-1)
}

// liveOf are the checkpoints that are not undone.
func liveOf(list []checkpoint) []checkpoint {
	return slices.DeleteFunc(slices.Clone(list), func(c checkpoint) bool { return c.Undone })
}

// undoTo undoes checkpoint i of live, the checkpoints that are not undone, and all after it.
func (c *checkpoints) undoTo(ctx context.Context, live []checkpoint, i int) string {
	if why := c.agents.unsettled(ctx); why != "" {
		return why
	}
	out, err := c.work.UndoFrom(ctx, live[i].at, c.overwrite("undo"))
	if err != nil {
		return notDone("undone", err)
	}
	c.sources.filesChanged(out.Changed)
	c.plans.note(undonePlanKey(live[i].ID))
	c.conversation.hide(idsOf(live[i:]))
	c.plans.setBack(sentPlanKey(live[i].ID))
	var b strings.Builder
	if n := len(live) - i; n == 1 {
		b.WriteString("Your last message is taken back, and what was said and done since. ")
	} else {
		fmt.Fprintf(&b, "Your last %d messages are taken back, and what was said and done since. ", n)
	}
	b.WriteString(outcomeText(c.work.Session().Cwd, out))
	var since time.Time
	if live[i].message != nil {
		since = live[i].message.Created
	}
	b.WriteString(jobsLeft(c.work.Runner().Jobs().View("").List(), since))
	if text := promptText(live[i].message); text != "" {
		b.WriteString("\nThe message was:\n\n" + kinds.Fence("", text) + "\n")
	}
	b.WriteString("\n`/redo` takes this back.\n")
	return b.String()
}

// jobsLeft names the commands in the background that have run since a moment: an undo knows only what they
// changed before their calls were answered.
func jobsLeft(all []tools.Job, since time.Time) string {
	all = slices.DeleteFunc(all, func(job tools.Job) bool { return job.State != tools.JobRunning && job.Ended.Before(since) })
	var b strings.Builder
	for i, job := range all {
		if i == namedJobs {
			fmt.Fprintf(&b, "\nSo it is with %d more.\n", len(all)-i)
			break
		}
		name := jobName(job.ID, job.Command)
		if job.State == tools.JobRunning {
			fmt.Fprintf(&b, "\n%s still runs: what it has changed since its call was answered is not taken back, and it may change more. `/jobs stop %s` stops it.\n", name, job.ID)
			continue
		}
		fmt.Fprintf(&b, "\n%s has ended: what it changed since its call was answered is not taken back.\n", name)
	}
	return b.String()
}

// redo is /redo.
func (c *checkpoints) redo(ctx context.Context) string {
	if why := c.agents.unsettled(ctx); why != "" {
		return why
	}
	first, out, err := c.work.Redo(ctx, c.overwrite("redo"))
	switch {
	case errors.Is(err, undo.ErrNoCheckpoint):
		return "There is no undo that could be taken back: there was none, or you have sent a message since.\n"
	case err != nil:
		return notDone("redone", err)
	}
	c.sources.filesChanged(out.Changed)
	brought := idsOf(c.list()[first:])
	c.conversation.show(brought)
	if len(brought) > 0 {
		c.plans.setBack(undonePlanKey(brought[0]))
	}
	return "The undo is taken back, and the conversation is as it was before. " + outcomeText(c.work.Session().Cwd, out)
}

func idsOf(list []checkpoint) (ids []string) {
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

// notDone says that nothing was changed.
func notDone(what string, err error) string {
	return fmt.Sprintf("Nothing was %s, and no file was changed: %s\n", what, kinds.Visible(err.Error()))
}

// text is /checkpoints.
func (c *checkpoints) text() string {
	list := c.list()
	if len(list) == 0 {
		return noUndo
	}
	var b strings.Builder
	header := false
	for i, at := range list {
		switch {
		case i == 0 && !at.Undone:
			b.WriteString("**Your messages that can be taken back**\n\n")
		case at.Undone && !header:
			header = true
			b.WriteString("\n**Taken back; `/redo` brings them back**\n\n")
		}
		fmt.Fprintf(&b, "- %d: %s", i+1, promptLine(at.message))
		switch at.Files {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString(" (1 file)\n")
		default:
			fmt.Fprintf(&b, " (%d files)\n", at.Files)
		}
	}
	b.WriteString("\n`/undo` takes back the last one, `/rewind NUMBER` that one and all after it.\n")
	return b.String()
}

// promptText is what the user wrote.
func promptText(m *transcript.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, part := range m.Parts {
		if text, ok := part.(*transcript.TextPart); ok && !text.Synthetic {
			texts = append(texts, text.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// checkpointRunes bounds a message in a list.
const checkpointRunes = 80

func promptLine(m *transcript.Message) string {
	if text := promptText(m); text != "" {
		return kinds.Visible(kinds.Line(text, checkpointRunes))
	}
	return "(no text)"
}

// overwrite returns how the user is asked about files that someone else has changed since; nil when no
// user can be asked, which leaves those files as they are.
func (c *checkpoints) overwrite(name string) undo.Overwrite {
	if c.performer.asker == nil {
		return nil
	}
	return func(ctx context.Context, paths []string) (bool, error) { return c.askOverwrite(ctx, name, paths) }
}

// errNoAnswer says that the user was asked and did not answer.
var errNoAnswer = errors.New("the question about files that were changed since was not answered")

// askOverwrite asks about files that someone else has changed since.
func (c *checkpoints) askOverwrite(ctx context.Context, command string, paths []string) (too bool, failed error) {
	text := "Someone else has changed these files since:\n\n" + pathList(c.work.Session().Cwd, paths)
	c.performer.ask(ctx, commandQuestion{
		command: command,
		card:    kinds.Card{Kind: kinds.Other, Title: "Files changed since", Content: []kinds.Content{kinds.Text{Text: text}}},
		choices: tools.Choices{
			Question: "Put these files back too? What they hold now is kept, and can be brought back.",
			Allow:    "Put them back too", Reject: "Leave them as they are",
		},
		onAnswer: func(answer tools.Answer, err error) (string, transcript.State) {
			switch {
			case err != nil:
				failed = errors.Join(errNoAnswer, err)
				return "The editor could not ask you, so nothing is changed.", transcript.Rejected
			case answer != tools.AllowOnce:
				return "These files are left as they are.", transcript.Rejected
			}
			too = true
			return "These files are put back too.", transcript.Done
		},
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return too, failed
}
