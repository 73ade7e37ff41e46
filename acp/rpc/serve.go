package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// methodCancel asks the receiver to cancel the request with the given id.
const methodCancel = "$/cancel_request"

// maxInflight bounds the requests that run at once, each of which costs a goroutine.
const maxInflight = 4096

// notified serves a notification, on the read loop.
func (c *Conn) notified(method string, params json.RawMessage) {
	if method == methodCancel {
		c.cancelRequested(params)
		return
	}
	if err := c.guarded(method, func() { c.handler.Notify(method, params) }); err != nil {
		return // logged; a notification has no answer
	}
}

// cancelRequested cancels a running request of the peer. That it is unknown is usual:
// its answer may be on the way.
func (c *Conn) cancelRequested(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		c.log.Debug("malformed cancellation ignored")
		return
	}
	id, ok := parseID(p.RequestID)
	if !ok {
		return
	}
	c.mu.Lock()
	cancel := c.inflight[id.key()]
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrCancelRequest)
	}
}

// requested serves a request: it is registered and prepared here, on the read loop, and
// done on its own goroutine.
func (c *Conn) requested(ctx context.Context, req *Request) {
	if req.Method == methodCancel {
		c.refuse(refuse(req.ID, CodeInvalidRequest, methodCancel+" is a notification"))
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if refused := c.begin(req.ID, cancel); refused != nil {
		cancel(nil)
		c.refuse(refused)
		return
	}
	var body Body
	err := c.guarded(req.Method, func() { body = c.handler.Request(req) })
	switch {
	case err != nil:
		c.finish(req, cancel)
		c.refuse(&refusal{id: req.ID, err: err})
	case body == nil:
		c.finish(req, cancel)
		c.refuse(refuse(req.ID, CodeMethodNotFound, fmt.Sprintf("no method %q", req.Method)))
	default:
		c.start(func() { c.work(ctx, cancel, req, body) })
	}
}

// begin registers a request that starts.
func (c *Conn) begin(id ID, cancel context.CancelCauseFunc) *refusal {
	key := id.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, running := c.inflight[key]; running {
		return refuse(id, CodeInvalidRequest, "a request with this id is still running")
	}
	if len(c.inflight) >= maxInflight {
		return refuse(id, CodeInvalidRequest, "too many requests at once")
	}
	c.inflight[key] = cancel
	return nil
}

// start runs f as the goroutine of a body, unless the connection has ended.
func (c *Conn) start(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.bodies++
	go func() {
		defer c.stopped()
		f()
	}()
}

func (c *Conn) stopped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies--
	if c.ended && c.bodies == 0 {
		close(c.idle)
	}
}

// work runs a body and sends its reply.
func (c *Conn) work(ctx context.Context, cancel context.CancelCauseFunc, req *Request, body Body) {
	var reply Reply
	if err := c.guarded(req.Method, func() { reply = body(ctx) }); err != nil {
		reply = Reply{Err: err}
	}
	var failure *Error
	if reply.Err != nil {
		failure = wireError(ctx, reply.Err) // before finish, which cancels ctx
	}
	// Before the reply leaves: its reader may use the id again at once.
	c.finish(req, cancel)
	c.reply(req, reply.Result, failure)
	if reply.Then != nil {
		_ = c.guarded(req.Method, reply.Then) // logged; the reply is out
	}
}

// finish forgets a request and releases its context.
func (c *Conn) finish(req *Request, cancel context.CancelCauseFunc) {
	c.mu.Lock()
	delete(c.inflight, req.ID.key())
	c.mu.Unlock()
	cancel(nil)
}

func (c *Conn) reply(req *Request, result any, failure *Error) {
	var f *frame
	if failure == nil {
		var err error
		if f, err = resultFrame(req.ID, result); err != nil {
			c.log.Error("result cannot be encoded", "method", req.Method, "error", err)
			failure = Errorf(CodeInternalError, "the result of %s cannot be encoded", req.Method)
		}
	}
	if failure != nil {
		c.log.Info("request not served", "method", req.Method, "code", failure.Code)
		f = errorFrame(req.ID, failure)
	}
	defer f.free()
	if err := c.out.put(context.Background(), f.line(), queueLimit); err != nil {
		c.log.Debug("reply lost", "method", req.Method, "error", err)
	}
}

// refuse answers on the read loop.
func (c *Conn) refuse(r *refusal) {
	f := errorFrame(r.id, r.err)
	defer f.free()
	if err := c.out.put(context.Background(), f.line(), answerLimit); err != nil {
		c.log.Debug("answer lost", "error", err)
	}
}

// guarded is the panic barrier around everything that others wrote: one request fails,
// the process and its other sessions live.
func (c *Conn) guarded(method string, f func()) (failure *Error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic while serving", "method", method,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			failure = Errorf(CodeInternalError, "internal error while serving %s", method)
		}
	}()
	f()
	return nil
}
