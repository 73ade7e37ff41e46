package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// Foreign is the cause of a tools.Error that came over the bridge: what the
// foreign error said besides its message. Code that makes an envelope of the error
// finds it with errors.As.
type Foreign struct {
	Type    string
	Details map[string]json.RawMessage
}

// Error implements error.
func (f *Foreign) Error() string {
	if f.Type == "" {
		return "foreign error"
	}
	return "foreign error of type " + f.Type
}

// Result turns an outcome into what a tool hands back: a result, or a
// *tools.Error. A call that has not ended is an error of kind Backend, for a
// tool's answer is its last word.
func (o Outcome) Result() (*tools.Result, error) {
	e, err := o.envelope()
	state := o.state()
	switch {
	case err != nil:
		return nil, &tools.Error{Kind: tools.Backend, Message: err.Error(), Err: err}
	case !state.Terminal():
		return nil, tools.Errorf(tools.Backend, "the tool answered with status %q, which is not the end of a call", state)
	case state != transcript.Done:
		return nil, failure(state, e)
	}
	result := &tools.Result{
		TrackFiles: e.Metadata.TrackFiles, Truncated: e.Metadata.Truncated, OutputPath: e.Metadata.OutputPath,
	}
	if text, ok := asText(e.Data); ok {
		result.Data = text
	} else if e.Data != nil {
		result.Data = e.Data
	}
	return result, nil
}

func failure(state transcript.State, e transcript.Envelope) *tools.Error {
	failed := &tools.Error{Kind: tools.Backend, Message: e.ErrorText}
	if d := e.Error; d != nil {
		failed.Code, failed.Path, failed.DeniedBy = d.Code, d.AbsolutePath, d.DeniedBy
		if legal(tools.ErrorKind(d.Kind)) {
			failed.Kind = tools.ErrorKind(d.Kind)
		}
		if d.Type != "" || len(d.Details) > 0 {
			failed.Err = &Foreign{Type: d.Type, Details: d.Details}
		}
	}
	switch state {
	case transcript.Cancelled:
		failed.Kind = tools.Aborted
	case transcript.Rejected:
		failed.Kind = tools.Denied
	}
	if failed.Message == "" {
		failed.Message = "the tool failed and did not say why"
	}
	return failed
}

func legal(kind tools.ErrorKind) bool {
	return slices.Contains([]tools.ErrorKind{
		tools.BadInput, tools.Unavailable, tools.Denied, tools.Aborted, tools.Timeout, tools.Backend,
	}, kind)
}

// OutcomeOf is the outcome of a tool's Run, as the pipeline would record it but
// for the time it took.
func OutcomeOf(result *tools.Result, err error) Outcome {
	if err != nil {
		return failedWith(err)
	}
	if result == nil {
		result = &tools.Result{}
	}
	data, err := json.Marshal(result.Data)
	if err != nil {
		return failedWith(fmt.Errorf("result: %w", err))
	}
	return Ended(transcript.Done, transcript.Envelope{
		Type: transcript.Output, Data: data,
		Metadata: transcript.Metadata{
			Truncated: result.Truncated, OutputPath: result.OutputPath, TrackFiles: result.TrackFiles,
		},
	})
}

func failedWith(err error) Outcome {
	known := &tools.Error{Kind: tools.Backend, Message: err.Error(), Err: err}
	errors.As(err, &known)
	detail := &transcript.ErrorDetail{
		Kind: string(known.Kind), Code: known.Code, AbsolutePath: known.Path, DeniedBy: known.DeniedBy,
	}
	var foreign *Foreign
	if errors.As(err, &foreign) {
		detail.Type, detail.Details = foreign.Type, foreign.Details
	}
	state := transcript.Failed
	switch known.Kind {
	case tools.Aborted:
		state = transcript.Cancelled
	case tools.Denied:
		state = transcript.Rejected
	}
	return Ended(state, transcript.Envelope{Type: transcript.Error, ErrorText: known.Error(), Error: detail})
}
