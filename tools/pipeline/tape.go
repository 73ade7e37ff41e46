package pipeline

import (
	"encoding/json"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// The names of the steps in the recording of a call.
const (
	preparedStep = "prepared"
	eventStep    = "event"
	questionStep = "question"
	planLeftStep = "plan left"
	jobStep      = "job"

	// A question about a host, and its end. The call may go on before it.
	hostQuestionStep     = "host question"
	hostQuestionOverStep = "host question over"
)

// preparedForm is a prepared call in a recording.
type preparedForm struct {
	// Ready is a transcript.ToolReady with the arguments and the card, null where they have no form.
	Ready     json.RawMessage
	Malformed bool                `json:",omitempty"`
	Serial    bool                `json:",omitempty"`
	Faulty    bool                `json:",omitempty"`
	Keys      []tools.ResourceKey `json:",omitempty"`
}

// questionForm is a permission request in a recording. Ready and With take the place of the request's own fields, because
// the content of a card has no JSON form but that of an event.
type questionForm struct {
	tools.PermissionRequest
	Ready json.RawMessage
	With  []questionForm `json:",omitempty"`
}

// formOf returns a permission request in the form of a recording.
func formOf(request tools.PermissionRequest) (form questionForm, err error) {
	form.PermissionRequest = request
	if form.Ready, err = transcript.EncodeEvent(request.Ready); err != nil {
		return form, err
	}
	for _, with := range request.With {
		other, err := formOf(with)
		if err != nil {
			return form, err
		}
		form.With = append(form.With, other)
	}
	return form, nil
}

// request returns the recorded request; ok is false when the recording is not valid.
func (f questionForm) request() (request tools.PermissionRequest, ok bool) {
	request = f.PermissionRequest
	e, err := transcript.DecodeEvent(f.Ready)
	if request.Ready, ok = e.(transcript.ToolReady); err != nil || !ok {
		return request, false
	}
	for _, with := range f.With {
		other, ok := with.request()
		if !ok {
			return request, false
		}
		request.With = append(request.With, other)
	}
	return request, true
}

// hostQuestionOver is the end of a question about a host, or a login there, in a recording.
type hostQuestionOver struct {
	// Withdrawn says that its time was over, or that the command has ended. A replay knows neither by itself.
	Withdrawn bool
}
