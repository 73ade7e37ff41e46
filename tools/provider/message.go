package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"acp-agent/internal/supervise"
	"acp-agent/kinds"
)

// maxFrame bounds a message of a provider, in bytes (M2).
const maxFrame = 16 << 20

var errFrame = fmt.Errorf("it sent a message of more than %d MiB", maxFrame>>20)

// link is the way to a provider that was reached.
type link interface {
	// call sends a request and waits for its result. A *rpcError is the provider's
	// answer; after any other error but that of ctx, the link is of no use.
	call(ctx context.Context, method string, params any) (json.RawMessage, error)
	supervise.Process
}

// message is a message of JSON-RPC, whoever sends it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is a failure that a provider answered with.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *rpcError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("it answered with error %d", e.Code)
	}
	return kinds.Line(e.Message, maxProblem)
}

// maxProblem bounds what a provider says of a failure, in characters.
const maxProblem = 2000

// noMethod answers what a provider asks of us.
const noMethod = -32601

func request(id int64, method string, params any) ([]byte, error) {
	return json.Marshal(message{Version: "2.0", ID: json.RawMessage(strconv.FormatInt(id, 10)), Method: method, Params: params})
}

// number is the id of an answer to a request of ours.
func (m *message) number() (id int64, ok bool) {
	id, err := strconv.ParseInt(strings.Trim(string(m.ID), `"`), 10, 64)
	return id, err == nil
}

// outcome is the result of an answer.
func (m *message) outcome() (json.RawMessage, error) {
	switch {
	case m.Error != nil:
		return nil, m.Error
	case m.Result == nil:
		return nil, errors.New("it answered with neither a result nor an error")
	}
	return m.Result, nil
}
