package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/transcript"
)

// truncate cuts results of tools that do not bound their own output at the
// general cap, and keeps the whole in a sidecar (R106, R108).
func (r *running) truncate(context.Context) error {
	limit := r.pipeline.Limits.ResultBytes
	text := r.result.ModelText()
	if r.entry.OwnLimit || r.result.Truncated || limit <= 0 || len(text) <= limit {
		return nil
	}
	head := text[:limit]
	for !utf8.ValidString(head[max(0, len(head)-utf8.UTFMax):]) && len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	marked := head + fmt.Sprintf("\n\n[Tool result truncated: %dKB exceeds limit. Please refine the query.]",
		int(math.Round(float64(len(text))/1024)))
	r.result.Truncated = true
	if path, err := r.spill(text); err != nil {
		marked += "\nThe rest could not be kept: " + err.Error()
	} else {
		r.result.OutputPath = path
		marked += "\nThe whole result is in " + path
	}
	r.result.Data = withHead(r.result.Data, head)
	r.result.Text = marked
	return nil
}

// smallField bounds a field that a cut object keeps beside its head.
const smallField = 1 << 10

// withHead is the data of a cut result: the tool's own object, less what made
// it large, with the head; anything else becomes the head alone (R105).
func withHead(data any, head string) any {
	cut := map[string]any{"head": head}
	if _, text := data.(string); text {
		return cut // as JSON it would be as large again
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return cut
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		for name, value := range object {
			if len(value) <= smallField && name != "head" {
				cut[name] = value
			}
		}
	}
	return cut
}

func (r *running) spill(text string) (path string, err error) {
	sidecar, err := r.runtime.Sidecar()
	if err != nil {
		return "", err
	}
	_, err = io.Copy(sidecar, struct{ io.Reader }{strings.NewReader(text)}) // in pieces, not as a second copy
	if closeErr := sidecar.Close(); err == nil {
		err = closeErr
	}
	return sidecar.Path(), err
}

// finish makes the end of the call: one terminal state, one envelope.
func (r *running) finish(ctx context.Context, err error) transcript.ToolFinished {
	end := transcript.ToolFinished{CallID: r.ID, State: transcript.Done, Card: r.card}
	end.Result.Metadata.DurationMS = time.Since(r.started).Milliseconds()
	if r.runtime != nil {
		// Also of a call that failed: what it changed by then is changed.
		var named []string
		if r.result != nil {
			named = r.result.TrackFiles
		}
		end.Result.Metadata.TrackFiles, end.Result.Metadata.Unseen = r.modified(named), r.unseen
	}
	if result := r.result; result != nil {
		if err != nil || ctx.Err() != nil {
			_ = r.truncate(ctx) // it never fails; a stopped call has not come to it
		}
		r.describeResult(&end, result)
	}
	// A call that had done its work when the cancel came is done (R142).
	if ctx.Err() != nil && (err != nil || r.result == nil || r.result.Partial) {
		err = r.cancelled(err)
	}
	if err != nil {
		r.fail(&end, asToolError(err))
	}
	return end
}

func (r *running) describeResult(end *transcript.ToolFinished, result *tools.Result) {
	data, err := json.Marshal(result.Data)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprint(result.Data))
	}
	end.Result.Type, end.Result.Data = transcript.Output, data
	end.Result.Metadata.Truncated, end.Result.Metadata.OutputPath = result.Truncated, result.OutputPath
	end.Text, end.Images = result.ModelText(), result.Images
	if result.Content != nil {
		end.Card.Content = result.Content
	}
	if result.Locations != nil {
		end.Card.Locations = result.Locations
	}
	if result.Title != "" {
		end.Card.Title = result.Title
	}
}

// cancelled is the error of a call whose turn was cancelled. What the tool had
// produced by then stays in the text, for the model to know (R142).
func (r *running) cancelled(err error) error {
	failure := &tools.Error{Kind: tools.Aborted, Message: CancelledText, Err: err}
	if r.result == nil && r.runtime != nil && r.writes() {
		failure.Message += "; it is not known whether the change was made"
	}
	if r.result != nil && r.result.ModelText() != "" {
		failure.Hint = "What it had produced:\n" + r.result.ModelText()
	}
	return failure
}

// writes reports whether the call changes files.
func (r *running) writes() bool {
	return slices.ContainsFunc(r.resources(), func(resource tools.Resource) bool { return resource.Kind == tools.PathWrite })
}

func (r *running) fail(end *transcript.ToolFinished, failure *tools.Error) {
	switch failure.Kind {
	case tools.Denied:
		end.State = transcript.Rejected
	case tools.Aborted:
		end.State = transcript.Cancelled
	default:
		end.State = transcript.Failed
	}
	end.Text, end.Images = failure.Error(), nil
	end.Card.Content = nil
	end.Result.Type, end.Result.Data = transcript.Error, nil
	end.Result.ErrorText = failure.Error()
	end.Result.Error = &transcript.ErrorDetail{
		Kind: string(failure.Kind), Code: failure.Code, AbsolutePath: failure.Path, DeniedBy: failure.DeniedBy,
	}
	var foreign *bridge.Foreign
	if errors.As(failure, &foreign) {
		end.Result.Error.Type, end.Result.Error.Details = foreign.Type, foreign.Details
	}
}
