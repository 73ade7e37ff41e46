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

// ending makes the end of a call: the one event that the model, the editor and the store read.
type ending struct {
	*sharedState
	execution *execution
	// rendered is nil until render has run, and when there is no result.
	rendered *rendered
}

// finish returns the end of the call, whose stages returned err: one terminal state, one envelope.
func (e *ending) finish(ctx context.Context, err error) transcript.ToolFinished {
	end := transcript.ToolFinished{CallID: e.ID, State: transcript.Done, Card: e.card}
	end.Result.Metadata.DurationMS = time.Since(e.started).Milliseconds()
	if err != nil || ctx.Err() != nil {
		if renderErr := e.render(ctx); renderErr != nil { // the stages stopped before render
			err = errors.Join(err, renderErr)
		}
	}
	if e.execution.runtime != nil {
		// A call that failed may have changed files, too.
		end.Result.Metadata.TrackFiles, end.Result.Metadata.Unseen = e.execution.modified(), e.execution.notScanned
	}
	if e.rendered != nil {
		e.describeResult(&end)
	}
	produced := ""
	if err != nil && e.rendered != nil && e.execution.result.Partial { // as of a subagent that failed halfway
		produced = e.rendered.text
	}
	// A cancel that comes after a complete result changes nothing (R142).
	if ctx.Err() != nil && (err != nil || e.execution.result == nil || e.execution.result.Partial) {
		err = e.cancelled(ctx, err)
		if e.rendered != nil {
			produced = e.rendered.text
		}
	}
	if err != nil {
		e.fail(&end, asToolError(err), produced)
	}
	e.fitWindow(&end)
	e.noteIgnoredArgs(&end)
	return end
}

// describeResult puts the result and what the tool says of its card into the end.
func (e *ending) describeResult(end *transcript.ToolFinished) {
	result, rendered := e.execution.result, e.rendered
	end.Result.Type, end.Result.Data = transcript.Output, rendered.data
	end.Result.Metadata.Truncated, end.Result.Metadata.OutputPath = rendered.truncated, rendered.path
	end.Text, end.Images = rendered.text, result.Images
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

// diffs returns the diffs of a card.
func diffs(content []kinds.Content) (list []kinds.Content) {
	for _, c := range content {
		if diff, ok := c.(kinds.Diff); ok {
			list = append(list, diff)
		}
	}
	return list
}

// cancelled returns the error of a call whose context has ended (R142).
func (e *ending) cancelled(ctx context.Context, err error) error {
	var known *tools.Error
	if errors.As(err, &known) && known.Kind == tools.Aborted && e.entry.Delegates {
		return known // the message of a subagent says what was aborted, and why
	}
	failure := &tools.Error{Kind: tools.Aborted, Message: CancelledText, Err: err}
	var cause *tools.Error
	if errors.As(context.Cause(ctx), &cause) {
		failure.Message = cause.Message // something other than the user ended it
	}
	if e.execution.result == nil && e.execution.runtime != nil && e.writes() {
		failure.Message += "; it is not known whether the change was made"
	}
	return failure
}

// fail turns the end into a failure. The text keeps what the tool had produced, for the model (R142); that is
// within the tool's own bounds, which may be wider than Limits.ResultBytes. The card shows the
// failure without the hints for the model, and the content that the tool chose, if any, in place of
// what it produced.
func (e *ending) fail(end *transcript.ToolFinished, failure *tools.Error, produced string) {
	switch failure.Kind {
	case tools.Denied:
		end.State = transcript.Rejected
	case tools.Aborted:
		end.State = transcript.Cancelled
	default:
		end.State = transcript.Failed
	}
	message, card := e.cut(failure.Error()), failure.Shown()
	if message.truncated {
		card = message.text
	}
	var content []kinds.Content
	if produced != "" {
		produced = "\nWhat it had produced:\n" + produced
		message.text += produced
		if content = e.execution.result.Content; content == nil {
			card += produced
		}
	}
	end.Text, end.Images, end.Background, end.EndsTurn = message.text, nil, false, false
	if card != message.text {
		end.Shown = card
	}
	if failure.Kind == tools.Denied && failure.DeniedBy == tools.DeniedByUser {
		content = diffs(e.redactCard(e.card).Content) // the change that the user rejected
	}
	end.Card.Content = content
	end.Result.Type, end.Result.Data = transcript.Error, nil
	end.Result.ErrorText = message.text
	if message.truncated {
		end.Result.Metadata.Truncated = true
		end.Result.Metadata.OutputPath = cmp.Or(end.Result.Metadata.OutputPath, message.path)
	}
	end.Result.Error = &transcript.ErrorDetail{
		Kind: string(failure.Kind), Code: failure.Code, AbsolutePath: failure.Path, DeniedBy: failure.DeniedBy,
	}
	var foreign *bridge.Foreign
	if errors.As(failure, &foreign) {
		end.Result.Error.Type, end.Result.Error.Details = foreign.Type, foreign.Details
	}
}
