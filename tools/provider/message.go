package provider

import (
	"context"
	"encoding/json"
	"errors"

	"acp-agent/internal/peer"
	"acp-agent/internal/supervise"
	"acp-agent/kinds"
)

// link is the way to a provider that was reached.
type link interface {
	// Call sends a request and waits for its result. A *peer.Error is the provider's
	// answer; after any other error but that of ctx, the link is of no use.
	Call(ctx context.Context, method string, params any) (json.RawMessage, error)
	supervise.Process
}

// maxProblem bounds what a provider says of a failure, in characters.
const maxProblem = 2000

// call sends a request over a link. What a provider answers with is shown to the user, so it
// becomes one printable line.
func call(ctx context.Context, l link, method string, params any) (json.RawMessage, error) {
	answer, err := l.Call(ctx, method, params)
	if answered, ok := errors.AsType[*peer.Error](err); ok {
		return nil, &peer.Error{Code: answered.Code, Message: kinds.Line(answered.Message, maxProblem)}
	}
	return answer, err
}
