package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/transcript"
)

// finish makes the end of the call: one terminal state, one envelope.
func (r *running) finish(ctx context.Context, err error) transcript.ToolFinished {
	end := transcript.ToolFinished{CallID: r.ID, State: transcript.Done, Card: r.card}
	end.Result.Metadata.DurationMS = time.Since(r.started).Milliseconds()
	if err != nil || ctx.Err() != nil {
		if renderErr := r.render(ctx); renderErr != nil { // a stopped call has not come to it
			err = errors.Join(err, renderErr)
		}
	}
	if r.runtime != nil {
		// Also of a call that failed: what it changed by then is changed.
		end.Result.Metadata.TrackFiles, end.Result.Metadata.Unseen = r.modified(), r.notScanned
	}
	if r.shown != nil {
		r.describeResult(&end)
	}
	produced := ""
	if err != nil && r.shown != nil && r.result.Partial { // a subagent that failed had done something by then
		produced = r.shown.text
	}
	// A call that had done its work when the cancel came is done (R142).
	if ctx.Err() != nil && (err != nil || r.result == nil || r.result.Partial) {
		err = r.cancelled(ctx, err)
		if r.shown != nil {
			produced = r.shown.text
		}
	}
	if err != nil {
		r.fail(&end, asToolError(err), produced)
	}
	r.fitWindow(&end)
	r.noteLeftOut(&end)
	return end
}

func (r *running) describeResult(end *transcript.ToolFinished) {
	result, shown := r.result, r.shown
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

// diffs are the changes that a card shows.
func diffs(content []kinds.Content) (list []kinds.Content) {
	for _, c := range content {
		if diff, ok := c.(kinds.Diff); ok {
			list = append(list, diff)
		}
	}
	return list
}

// cancelled is the error of a call whose turn was cancelled (R142).
func (r *running) cancelled(ctx context.Context, err error) error {
	var known *tools.Error
	if errors.As(err, &known) && known.Kind == tools.Aborted && r.entry.Delegates {
		return known // it says who aborted what
	}
	failure := &tools.Error{Kind: tools.Aborted, Message: CancelledText, Err: err}
	var cause *tools.Error
	if errors.As(context.Cause(ctx), &cause) {
		failure.Message = cause.Message // it was not the user
	}
	if r.result == nil && r.runtime != nil && r.writes() {
		failure.Message += "; it is not known whether the change was made"
	}
	return failure
}

// writes reports whether the call changes files.
func (r *running) writes() bool {
	return slices.ContainsFunc(r.touched, func(resource tools.Resource) bool { return resource.Kind == tools.PathWrite })
}

// fail makes the end that of a failure. What the tool had produced by then stays
// in the text, for the model to know (R142); it is within its own bounds, which
// may be wider than the general cap. The card shows the failure without the advice that
// is for the model, and of what was produced what the tool chose for it, if it did.
func (r *running) fail(end *transcript.ToolFinished, failure *tools.Error, produced string) {
	switch failure.Kind {
	case tools.Denied:
		end.State = transcript.Rejected
	case tools.Aborted:
		end.State = transcript.Cancelled
	default:
		end.State = transcript.Failed
	}
	shown, card := r.cut(failure.Error()), failure.Shown()
	if shown.truncated {
		card = shown.text
	}
	var content []kinds.Content
	if produced != "" {
		produced = "\nWhat it had produced:\n" + produced
		shown.text += produced
		if content = r.result.Content; content == nil {
			card += produced
		}
	}
	end.Text, end.Images, end.Background, end.EndsTurn = shown.text, nil, false, false
	if card != shown.text {
		end.Shown = card
	}
	if failure.Kind == tools.Denied && failure.DeniedBy == tools.DeniedByUser {
		content = diffs(r.redactedCard(r.card).Content) // what they rejected
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
