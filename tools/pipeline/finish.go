package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/transcript"
)

// ending makes of what became of a call what the model, the editor and the store get.
type ending struct {
	*sharedState
	execution *execution
	// shown is the result written out.
	shown *shown
}

// finish makes the end of the call: one terminal state, one envelope.
func (e *ending) finish(ctx context.Context, err error) transcript.ToolFinished {
	end := transcript.ToolFinished{CallID: e.ID, State: transcript.Done, Card: e.card}
	end.Result.Metadata.DurationMS = time.Since(e.started).Milliseconds()
	if err != nil || ctx.Err() != nil {
		if renderErr := e.render(ctx); renderErr != nil { // a stopped call has not come to it
			err = errors.Join(err, renderErr)
		}
	}
	if e.execution.runtime != nil {
		// Also of a call that failed: what it changed by then is changed.
		end.Result.Metadata.TrackFiles, end.Result.Metadata.Unseen = e.execution.modified(), e.execution.notScanned
	}
	if e.shown != nil {
		e.describeResult(&end)
	}
	produced := ""
	if err != nil && e.shown != nil && e.execution.result.Partial { // a subagent that failed had done something by then
		produced = e.shown.text
	}
	// A call that had done its work when the cancel came is done (R142).
	if ctx.Err() != nil && (err != nil || e.execution.result == nil || e.execution.result.Partial) {
		err = e.cancelled(ctx, err)
		if e.shown != nil {
			produced = e.shown.text
		}
	}
	if err != nil {
		e.fail(&end, asToolError(err), produced)
	}
	e.fitWindow(&end)
	e.noteIgnoredArgs(&end)
	return end
}

func (e *ending) describeResult(end *transcript.ToolFinished) {
	result, shown := e.execution.result, e.shown
	end.Result.Type, end.Result.Data = transcript.Output, shown.data
	end.Result.Metadata.Truncated, end.Result.Metadata.OutputPath = shown.truncated, shown.path
	end.Text, end.Images = shown.text, result.Images
	if result.Content != nil {
		end.Card.Content = result.Content
	}
	if result.Locations != nil {
		end.Card.Locations = result.Locations
	}
	if result.Title != "" {
		end.Card.Title = result.Title
	}
	end.Background, end.EndsTurn = result.Background, result.EndsTurn
}

// diffs returns the changes that a card shows.
func diffs(content []kinds.Content) (list []kinds.Content) {
	for _, c := range content {
		if diff, ok := c.(kinds.Diff); ok {
			list = append(list, diff)
		}
	}
	return list
}

// cancelled is the error of a call whose turn was cancelled (R142).
func (e *ending) cancelled(ctx context.Context, err error) error {
	var known *tools.Error
	if errors.As(err, &known) && known.Kind == tools.Aborted && e.entry.Delegates {
		return known // its message says what was aborted, and why
	}
	failure := &tools.Error{Kind: tools.Aborted, Message: CancelledText, Err: err}
	var cause *tools.Error
	if errors.As(context.Cause(ctx), &cause) {
		failure.Message = cause.Message // it was not the user
	}
	if e.execution.result == nil && e.execution.runtime != nil && e.writes() {
		failure.Message += "; it is not known whether the change was made"
	}
	return failure
}

// fail makes the end that of a failure. What the tool had produced by then stays
// in the text, for the model to know (R142); it is within its own bounds, which
// may be wider than the general cap. The card shows the failure without the advice that
// is for the model, and of what was produced what the tool chose for it, if it did.
func (e *ending) fail(end *transcript.ToolFinished, failure *tools.Error, produced string) {
	switch failure.Kind {
	case tools.Denied:
		end.State = transcript.Rejected
	case tools.Aborted:
		end.State = transcript.Cancelled
	default:
		end.State = transcript.Failed
	}
	shown, card := e.cut(failure.Error()), failure.Shown()
	if shown.truncated {
		card = shown.text
	}
	var content []kinds.Content
	if produced != "" {
		produced = "\nWhat it had produced:\n" + produced
		shown.text += produced
		if content = e.execution.result.Content; content == nil {
			card += produced
		}
	}
	end.Text, end.Images, end.Background, end.EndsTurn = shown.text, nil, false, false
	if card != shown.text {
		end.Shown = card
	}
	if failure.Kind == tools.Denied && failure.DeniedBy == tools.DeniedByUser {
		content = diffs(e.redactedCard(e.card).Content) // what they rejected
	}
	end.Card.Content = content
	end.Result.Type, end.Result.Data = transcript.Error, nil
	end.Result.ErrorText = shown.text
	if shown.truncated {
		end.Result.Metadata.Truncated = true
		end.Result.Metadata.OutputPath = cmp.Or(end.Result.Metadata.OutputPath, shown.path)
	}
	end.Result.Error = &transcript.ErrorDetail{
		Kind: string(failure.Kind), Code: failure.Code, AbsolutePath: failure.Path, DeniedBy: failure.DeniedBy,
	}
	var foreign *bridge.Foreign
	if errors.As(failure, &foreign) {
		end.Result.Error.Type, end.Result.Error.Details = foreign.Type, foreign.Details
	}
}
