package anthropic

import (
	"encoding/json"
	"errors"
)

// event is what is read of one event. Events, blocks and deltas of other types are ignored:
// the API may add some (platform.claude.com/docs/en/build-with-claude/streaming, Other events).
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *message        `json:"message"` // of message_start
	Block   *block          `json:"content_block"`
	Delta   *delta          `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type message struct {
	Model string `json:"model"`
	Usage *usage `json:"usage"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of redacted_thinking
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"` // of message_delta
	StopDetails *struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// decode reads an event. Members of an unexpected type count as missing.
func (e *event) decode(data []byte) error {
	*e = event{}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(data, e); err != nil && !errors.As(err, &mismatch) {
		return err
	}
	return nil
}

// failed reports whether an event is an error.
func (e *event) failed(kind string) bool {
	return kind == "error" || e.Type == "error" || e.Type == "" && len(e.Error) > 0 && string(e.Error) != "null"
}
