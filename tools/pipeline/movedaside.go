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

const (
	// maxMovedAside bounds the files on the card. When there are more, all of them stay aside, and
	// no question is asked.
	maxMovedAside = 100
	// maxMovedAsideDiff bounds the text of one file on the card, in bytes.
	maxMovedAsideDiff = 64 << 10
	// maxMovedAsideTitle bounds the title of the question, in runes.
	maxMovedAsideTitle = 200
)

// movedAsideQuestion asks about changed files that the sandbox moved aside because other programs
// would run code in them.
type movedAsideQuestion struct {
	*sharedState
	execution *execution
}

// askAboutMovedAside asks, once for all files of a command, whether to put the changed files back
// in place (P5). Without a yes they stay aside. It does not ask about names that no tool may write.
func (q *movedAsideQuestion) askAboutMovedAside(ctx context.Context) error {
	if q.execution.result == nil || q.pipeline.Asker == nil || ctx.Err() != nil {
		return nil
	}
	changes := slices.DeleteFunc(q.execution.runtime.Commands().MovedAside(), func(change run.MovedAside) bool {
		return permissions.Protected(change.Path, q.pipeline.Own...) == permissions.ProtectedDeny
	})
	if len(changes) == 0 || len(changes) > maxMovedAside {
		return nil
	}
	defer q.pipeline.Session.AwaitUser(ctx)()
	if !q.askToKeep(ctx, changes) {
		return nil
	}
	for _, change := range changes {
		q.execution.result.Text = q.execution.result.ModelText() + "\n<note>" + restoreNote(change, change.Restore()) + "</note>"
	}
	return nil
}

// askToKeep asks the user whether to keep the changes. No answer counts as no, and does not fail the call: its command
// has already run.
func (q *movedAsideQuestion) askToKeep(ctx context.Context, changes []run.MovedAside) (keep bool) {
	err := tools.AskInTurn(ctx, q.pipeline.Queue, q.ID, func(asking context.Context) (err error) {
		keep, err = q.putQuestion(asking, changes)
		return err
	})
	return keep && err == nil
}

// putQuestion sends the question to the user.
func (q *movedAsideQuestion) putQuestion(ctx context.Context, changes []run.MovedAside) (yes bool, err error) {
	card := q.card
	card.Content, card.Locations = q.content(changes), nil
	var paths []string
	for _, change := range changes {
		paths = append(paths, q.pipeline.Workspace.Session().Rel(change.Path))
		card.Locations = append(card.Locations, kinds.Location{Path: change.Path})
	}
	which := "the command"
	if slices.ContainsFunc(changes, func(change run.MovedAside) bool { return change.Late }) {
		which = "the command, or one that was stopped before it,"
	}
	reason := which + " changed " + strings.Join(paths, ", ") + ", which can make other programs run code; the change was moved aside"
	q.sink.Emit(transcript.ToolState{CallID: q.ID, State: transcript.BlockedOnUser, Reason: reason})
	answer, err := q.question(ctx, tools.PermissionRequest{
		CallID: q.ID, Name: q.Name,
		Ready:  transcript.ToolReady{CallID: q.ID, Tool: q.Tool, Input: q.Input, Args: q.Args, Card: q.redactCard(card)},
		Reason: reason, Agents: q.pipeline.Names,
		Choices: &tools.Choices{Question: kinds.Line("Keep the change of "+kinds.Names(paths), maxMovedAsideTitle), Allow: "Keep the change", Reject: "Leave it aside"},
	})
	q.sink.Emit(transcript.ToolState{CallID: q.ID, State: transcript.InProgress})
	return err == nil && answer == tools.AllowOnce, err
}

// content shows each change: as a diff if the file is text, small enough and not secret, else by
// its name.
func (q *movedAsideQuestion) content(changes []run.MovedAside) []kinds.Content {
	var list []kinds.Content
	for _, change := range changes {
		before := 0
		if change.Before != nil {
			before = len(*change.Before)
		}
		if change.Text && before+len(change.After) <= maxMovedAsideDiff && !q.pipeline.Workspace.SecretName(change.Path) {
			list = append(list, kinds.Diff{Path: change.Path, Old: change.Before, New: change.After})
			continue
		}
		list = append(list, kinds.Text{Text: fmt.Sprintf("`%s` was changed; what the command left there is `%s`.", change.Path, change.Kept)})
	}
	return list
}

// restoreNote tells the model whether a change that the user keeps is in place again.
func restoreNote(change run.MovedAside, err error) string {
	switch {
	case errors.Is(err, run.ErrEdited):
		return fmt.Sprintf("The user wanted to keep the change of %s, but the file was edited meanwhile: it stays as it is, and the change is %s.", change.Path, change.Kept)
	case err != nil:
		return fmt.Sprintf("The user wanted to keep the change of %s, which could not be put in place (%v): it is %s.", change.Path, err, change.Kept)
	}
	return fmt.Sprintf("The user kept the change of %s: it is in place again.", change.Path)
}
