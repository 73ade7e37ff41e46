package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// writeGrace is how long a server that does not read may keep a call that has ended; then
// its connection ends.
const writeGrace = 2 * time.Second

// call runs one tool of the server. While the server is away it fails at once (R91).
func (l *link) call(ctx context.Context, rt tools.Runtime, name string, args json.RawMessage) (*tools.Result, error) {
	answer, err := ask(ctx, l, rt, func(ctx context.Context, c *connection, token string) (*sdk.CallToolResult, error) {
		params := &sdk.CallToolParams{Name: name, Arguments: args}
		params.SetProgressToken(token)
		return c.session.CallTool(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	return resultOf(answer)
}

// ask has do put one request to the server, under a token by which the server may tell of
// its progress to rt, which may be nil. It fails at once while the server is away, and when
// nothing has come for as long as a call may take (R88).
func ask[T any](ctx context.Context, l *link, rt tools.Runtime, do func(ctx context.Context, c *connection, token string) (T, error)) (none T, err error) {
	l.mu.Lock()
	c := l.live
	l.mu.Unlock()
	if c == nil {
		return none, l.unavailable(l.lastProblem())
	}
	limit := l.server.Timeout
	if limit <= 0 {
		limit = callLimit
	}
	slow := fmt.Errorf("mcp server %s: no answer and no progress for %v", l.id, limit)
	ctx, clock, over := c.bounded(ctx, limit, slow)
	defer over()
	token, silent := c.calls.begin(&running{clock: clock, runtime: rt})
	defer silent()
	answer, err := do(ctx, c, token)
	if err == nil {
		l.mu.Lock()
		l.answered = true
		l.mu.Unlock()
		return answer, nil
	}
	return none, l.failure(ctx, c, err, slow)
}

// bounded is a context for one request: it ends with slow when clock, set to limit, does.
// A server that does not even read after the end of the request loses its connection. over
// is to be called once the request has returned.
func (c *connection) bounded(ctx context.Context, limit time.Duration, slow error) (_ context.Context, clock *clock, over func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	clock = startClock(limit, func() { cancel(slow) })
	returned := make(chan struct{})
	context.AfterFunc(ctx, func() {
		select {
		case <-returned:
		case <-time.After(writeGrace):
			c.abort()
		}
	})
	return ctx, clock, func() {
		close(returned)
		clock.stop()
		cancel(nil)
	}
}

// failure says why a call has no answer.
func (l *link) failure(ctx context.Context, c *connection, err, slow error) error {
	var said *jsonrpc.Error
	switch {
	case errors.Is(context.Cause(ctx), slow):
		return &tools.Error{Kind: tools.Timeout, Message: slow.Error(), Err: slow}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.remote != nil && c.remote.refused.Load():
		return l.refused(tools.Backend, c.remote.refusal())
	case errors.As(err, &said) && said.Code == lostCode && said.Message == lostMessage:
		return l.unavailable(c.explain(err)) // the connection goes on
	case errors.As(err, &said):
		return &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("mcp server %s: %s", l.id, clean(said.Message, maxDescription)), Err: err}
	}
	wait := time.NewTimer(writeGrace)
	defer wait.Stop()
	select {
	case <-c.over:
		return l.unavailable(l.lastProblem())
	case <-wait.C:
		return l.unavailable(c.explain(err))
	}
}

// unavailable is the error of a call while the server is away.
func (l *link) unavailable(why error) error {
	if stateAfter(why) == SignIn {
		return l.refused(tools.Unavailable, why)
	}
	failure := &tools.Error{Kind: tools.Unavailable, Message: fmt.Sprintf("mcp server %s is unavailable", l.id), Err: why}
	if why != nil {
		failure.Detail = kinds.Line(why.Error(), maxProblem)
	}
	return failure
}

// progressLine is progress as people read it.
func progressLine(p *sdk.ProgressNotificationParams) string {
	text := strconv.FormatFloat(p.Progress, 'g', 6, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'g', 6, 64)
	}
	if p.Message != "" {
		text += ": " + kinds.Line(p.Message, maxFieldText)
	}
	return text + "\n"
}
