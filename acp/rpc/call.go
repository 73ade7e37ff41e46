package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

// outCall is a call of ours that waits for its answer.
type outCall struct {
	frame  *frame   // complete but for the id, until it is sent
	id     ID       // chosen by jsonrpc2
	answer *message // set before jsonrpc2 wakes the caller
}

// Call sends a request and waits for its answer, which is decoded into result unless
// that is nil; an answer of null is decoded as `{}`. If the peer answers with an error,
// Call returns one that unwraps to *[Error].
//
// When ctx is done before the answer is read, Call asks the peer to cancel the request and returns the cause
// of ctx at once; an answer that comes later is discarded. When the connection ends, it
// returns an error that wraps ErrClosed. Call waits for Run to begin. It must not be used
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
		if !c.hasAnswer(call) {
			c.cancelCall(call.id)
			return context.Cause(ctx)
		}
	}
	if call.answer.err != nil {
		return &callError{method: method, err: call.answer.err}
	}
	if result == nil {
		return nil
	}
	raw := call.answer.result
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

// Sent is for what makes calls: the request of ctx stands in the output.
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

// sendCall writes a call that jsonrpc2 has numbered and registered.
func (c *Conn) sendCall(call *outCall) error {
	key := call.id.key()
	c.mu.Lock()
	c.calls[key] = call
	c.mu.Unlock()
	call.frame.raw("id", string(call.id))
	err := c.out.put(context.Background(), call.frame.line(), noLimit)
	if err != nil {
		c.mu.Lock()
		delete(c.calls, key)
		c.mu.Unlock()
	}
	return err
}

// answered keeps a response for the call it belongs to, and says whether there is one.
func (c *Conn) answered(msg *message) bool {
	key := msg.id.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	call, ok := c.calls[key]
	if !ok {
		return false
	}
	delete(c.calls, key)
	call.answer = msg
	msg.id = call.id // in the form that jsonrpc2 knows
	return true
}

// hasAnswer reports whether a call was answered. An answer that was read before its ctx ended
// counts, although its caller has not been woken: the user has given it.
func (c *Conn) hasAnswer(call *outCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return call.answer != nil
}

// cancelCall tells the peer that nobody waits for this call any more. It never blocks:
// the caller has been told to stop.
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
