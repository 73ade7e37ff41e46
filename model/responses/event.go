package responses

import (
	"bytes"
	"encoding/json"
	"errors"
)

// event is what is read of one event. Events and items of other types are ignored: the API
// adds some. Members are those of the official SDK's ResponseStreamEvent.
type event struct {
	Type string `json:"type"`
	// Object is "response" in an answer that is not streamed.
	Object       string          `json:"object"`
	Index        *int            `json:"output_index"`
	ItemID       string          `json:"item_id"`
	SummaryIndex int             `json:"summary_index"`
	ContentIndex int             `json:"content_index"`
	Delta        string          `json:"delta"`
	Text         string          `json:"text"`
	Refusal      string          `json:"refusal"`
	Arguments    string          `json:"arguments"`
	Item         json.RawMessage `json:"item"`
	Response     *response       `json:"response"`
	Error        json.RawMessage `json:"error"`
}

// response is the answer as a whole, at its end.
type response struct {
	Status     string            `json:"status"`
	Model      string            `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Usage      *usage            `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is one of the output.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Phase     string `json:"phase"`
	Name      string `json:"name"`
	CallID    string `json:"call_id"`
	Arguments string `json:"arguments"`
	Content   []part `json:"content"`
	Summary   []part `json:"summary"`
}

type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// decode reads an event. Members of an unexpected type count as missing.
func (e *event) decode(data []byte) error {
	*e = event{}
	if err := loosely(json.Unmarshal(data, e)); err != nil {
		return err
	}
	if e.Type == "" && e.Object == "response" {
		e.Response = &response{}
		if err := loosely(json.Unmarshal(data, e.Response)); err != nil {
			return err
		}
		e.Type, e.Error = "response."+e.Response.Status, nil
	}
	return nil
}

// loosely is an error of the JSON decoder, unless it is that a member has another type.
func loosely(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}

// failed reports whether an event is an error, and returns the part of it that says which.
func (e *event) failed(kind string, data []byte) (json.RawMessage, bool) {
	switch {
	case e.Type == "error", e.Type == "" && kind == "error", e.Type == "" && given(e.Error):
		return data, true
	case e.Type == "response.failed" || e.Type == "response.cancelled":
		said := json.RawMessage(`{}`)
		if e.Response != nil && given(e.Response.Error) {
			said = e.Response.Error
		}
		return append(append([]byte(`{"error":`), said...), '}'), true
	}
	return nil, false
}

// given reports whether a raw member is there and says something.
func given(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) && !bytes.Equal(raw, []byte("{}"))
}
