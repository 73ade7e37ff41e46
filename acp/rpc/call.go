package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// outCall is a call of ours that waits for its answer. It travels through jsonrpc2 as an
// extra field of the request.
type outCall struct {
	frame  *frame                  // complete but for the id, until it is sent
	id     ID                      // chosen by jsonrpc2
	answer atomic.Pointer[message] // set before jsonrpc2 wakes the caller
}

// callOf is the call of ours that a request carries, nil for others.
func callOf(req *jsonrpc2.Request) *outCall {
	if req == nil || len(req.ExtraFields) != 1 {
		return nil
	}
	call, _ := req.ExtraFields[0].Value.(*outCall)
	return call
}

// Call sends a request and waits for its answer, which is decoded into result unless
// that is nil; an answer of null is decoded as `{}`. If the peer answers with an error,
// Call returns one that unwraps to *[Error].
//
// When ctx is done before the answer is read, Call asks the peer to cancel the request and
// returns the cause of ctx at once; it discards an answer that comes later. When the connection ends, it
// returns an error that wraps ErrClosed. Call waits for Run to start. It must not be used
// on the read loop.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	call, waiter, err := c.dispatch(ctx, method, params)
	if err != nil {
		return err
	}
	if err := waiter.Wait(ctx, nil); err != nil {
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			return fmt.Errorf("call %s: %w", method, ErrClosed)
		}
		// An answer that was read before ctx ended counts, although its caller was not woken:
		// the user has given it.
		if call.answer.Load() == nil {
			c.cancelCall(call.id)
			return context.Cause(ctx)
		}
	}
	answer := call.answer.Load()
	if answer.err != nil {
		return &callError{method: method, err: answer.err}
	}
	if result == nil {
		return nil
	}
	raw := answer.result
	if string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return nil
}

type whenSent struct{}

// WhenSent returns a context in which Call calls sent as soon as the request stands in the
// output, before it waits for the answer.
func WhenSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, whenSent{}, sent)
}

// Sent calls the function of WhenSent, if ctx has one. Whatever implements Call uses it.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(whenSent{}).(func()); ok {
		sent()
	}
}

func (c *Conn) dispatch(ctx context.Context, method string, params any) (*outCall, jsonrpc2.Waiter, error) {
	var none jsonrpc2.Waiter
	select {
	case <-c.started:
	case <-ctx.Done():
		return nil, none, context.Cause(ctx)
	}
	f, err := notificationFrame(method, params)
	if err != nil {
		return nil, none, fmt.Errorf("encode %s: %w", method, err)
	}
	defer f.free()
	// Waiting for room happens here, where ctx can end it, and not in WriteObject. Calls
	// that find room at the same moment may together exceed the limit, by a frame each.
	if err := c.out.room(ctx); err != nil {
		return nil, none, fmt.Errorf("call %s: %w", method, err)
	}
	call := &outCall{frame: f}
	waiter, err := c.peer.DispatchCall(ctx, method, nil, jsonrpc2.ExtraField("call", call))
	if err != nil {
		return nil, none, fmt.Errorf("call %s: %w: %w", method, ErrClosed, err)
	}
	Sent(ctx)
	return call, waiter, nil
}

// cancelCall asks the peer to cancel a call whose caller has stopped waiting. It never blocks,
// because that caller is to stop.
func (c *Conn) cancelCall(id ID) {
	f, err := notificationFrame(methodCancel, map[string]json.RawMessage{"requestId": json.RawMessage(id)})
	if err == nil {
		defer f.free()
		err = c.out.put(context.Background(), f.line(), noLimit)
	}
	if err != nil {
		c.log.Debug("cancellation not sent", "error", err)
	}
}
