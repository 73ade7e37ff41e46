package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Message is a message of JSON-RPC, of either side.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is a failure that one side answers with.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("it answered with error %d", e.Code)
	}
	return e.Message
}

// codeNoMethod answers a request for a method that there is not.
const codeNoMethod = -32601

// Request returns a request as JSON. Params that are nil are left out.
func Request(id int64, method string, params any) ([]byte, error) {
	return outgoing(json.RawMessage(strconv.FormatInt(id, 10)), method, params)
}

// outgoing returns a request as JSON, or without an id a notification.
func outgoing(id json.RawMessage, method string, params any) ([]byte, error) {
	m := Message{Version: "2.0", ID: id, Method: method}
	if params != nil {
		var err error
		if m.Params, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	return json.Marshal(m)
}

// Number returns the id of an answer to a request of ours. Some programs write it in quotes.
func (m *Message) Number() (id int64, ok bool) {
	id, err := strconv.ParseInt(strings.Trim(string(m.ID), `"`), 10, 64)
	return id, err == nil
}

// Outcome returns the result of an answer, or an *Error.
func (m *Message) Outcome() (json.RawMessage, error) {
	switch {
	case m.Error != nil:
		return nil, m.Error
	case m.Result == nil:
		return nil, errors.New("it answered with neither a result nor an error")
	}
	return m.Result, nil
}
