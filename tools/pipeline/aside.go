package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// maxAsideFiles bounds the files on the card about what was moved aside. When there are more, all
// of them stay aside, and no question is asked.
const maxAsideFiles = 100

// maxAsideDiff bounds the text of one file on that card, in bytes.
const maxAsideDiff = 64 << 10

// maxAsideTitle bounds the title of the question, in runes.
const maxAsideTitle = 200

// asideQuestion is the question about what the sandbox moved aside.
type asideQuestion struct {
	*underway
	execution *execution
}

// askAboutMovedAside asks, once for all files of a command, whether the changes of protected names
// that were moved aside are kept (P5). Without a yes they stay aside. The names that no tool
// writes are not asked about.
func (q *asideQuestion) askAboutMovedAside(ctx context.Context) error {
	if q.execution.result == nil || q.pipeline.Asker == nil || ctx.Err() != nil {
		return nil
	}
	asides := slices.DeleteFunc(q.execution.runtime.Commands().MovedAside(), func(a run.MovedAside) bool {
		return permissions.Protected(a.Path, q.pipeline.Own...) == permissions.ProtectedDeny
	})
	if len(asides) == 0 || len(asides) > maxAsideFiles {
		return nil
	}
	defer q.pipeline.Session.AwaitUser(ctx)()
	if !q.wantsChanges(ctx, asides) {
		return nil
	}
	for _, a := range asides {
		q.execution.result.Text = q.execution.result.ModelText() + "\n<note>" + restored(a, a.Restore()) + "</note>"
	}
	return nil
}

// wantsChanges asks whether the changes are kept. The command has run: without an answer they
// are not.
func (q *asideQuestion) wantsChanges(ctx context.Context, asides []run.MovedAside) bool {
	yes := false
	err := tools.AskInTurn(ctx, q.pipeline.Queue, q.ID, func(asking context.Context) (err error) {
		yes, err = q.askChanges(asking, asides)
		return err
	})
	return yes && err == nil
}

// askChanges puts the question.
func (q *asideQuestion) askChanges(ctx context.Context, asides []run.MovedAside) (yes bool, err error) {
	card := q.card
	card.Content, card.Locations = q.asideContent(asides), nil
	var paths []string
	for _, a := range asides {
		paths = append(paths, q.pipeline.Workspace.Session().Rel(a.Path))
		card.Locations = append(card.Locations, kinds.Location{Path: a.Path})
	}
	which := "the command"
	if slices.ContainsFunc(asides, func(a run.MovedAside) bool { return a.Late }) {
		which = "the command, or one that was stopped before it,"
	}
	reason := which + " changed " + strings.Join(paths, ", ") + ", which can make other programs run code; the change was moved aside"
	q.sink.Emit(transcript.ToolState{CallID: q.ID, State: transcript.BlockedOnUser, Reason: reason})
	answer, err := q.question(ctx, tools.PermissionRequest{
		CallID: q.ID, Name: q.Name,
		Ready:  transcript.ToolReady{CallID: q.ID, Tool: q.Tool, Input: q.Input, Args: q.Args, Card: q.redactedCard(card)},
		Reason: reason, Agents: q.pipeline.Names,
		Choices: &tools.Choices{Question: kinds.Line("Keep the change of "+kinds.Names(paths), maxAsideTitle), Allow: "Keep the change", Reject: "Leave it aside"},
	})
	q.sink.Emit(transcript.ToolState{CallID: q.ID, State: transcript.InProgress})
	return err == nil && answer == tools.AllowOnce, err
}

// asideContent shows each change: as a difference where it is one of texts that are not
// secret, else by its name.
func (q *asideQuestion) asideContent(asides []run.MovedAside) []kinds.Content {
	var content []kinds.Content
	for _, a := range asides {
		before := 0
		if a.Before != nil {
			before = len(*a.Before)
		}
		if a.Text && before+len(a.After) <= maxAsideDiff && !q.pipeline.Workspace.SecretName(a.Path) {
			content = append(content, kinds.Diff{Path: a.Path, Old: a.Before, New: a.After})
			continue
		}
		content = append(content, kinds.Text{Text: fmt.Sprintf("`%s` was changed; what the command left there is `%s`.", a.Path, a.Kept)})
	}
	return content
}

// restored says what became of a change that the user keeps.
func restored(a run.MovedAside, err error) string {
	switch {
	case errors.Is(err, run.ErrEdited):
		return fmt.Sprintf("The user wanted to keep the change of %s, but the file was edited meanwhile: it stays as it is, and the change is %s.", a.Path, a.Kept)
	case err != nil:
		return fmt.Sprintf("The user wanted to keep the change of %s, which could not be put in place (%v): it is %s.", a.Path, err, a.Kept)
	}
	return fmt.Sprintf("The user kept the change of %s: it is in place again.", a.Path)
}
