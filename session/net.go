package session

import (
	"context"
	"errors"

	"acp-agent/internal/network"
	"acp-agent/tools"
)

// Net is a guarded client as the network of a tool (tools.Net).
type Net struct{ Client *network.Client }

// Check implements tools.AddressChecker.
func (n Net) Check(url string) error {
	err := n.Client.Check(url)
	var blocked *network.BlockedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &blocked) && blocked.Pair == "":
		return &tools.Error{Kind: tools.BadInput, Message: err.Error(), Hint: "Give the whole address, such as https://example.com/page.", Err: err}
	}
	return &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByNetwork, Message: err.Error(), Err: err}
}

// Do implements tools.Net.
func (n Net) Do(ctx context.Context, r tools.Request) (*tools.Response, error) {
	answer, err := n.Client.Do(ctx, network.Request(r))
	if err == nil {
		return (*tools.Response)(answer), nil
	}
	var blocked *network.BlockedError
	switch {
	case errors.As(err, &blocked):
		return nil, &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByNetwork, Message: err.Error(), Err: err}
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &tools.Error{Kind: tools.Timeout, Message: err.Error(), Err: err}
	}
	return nil, &tools.Error{Kind: tools.Backend, Message: err.Error(), Err: err}
}
