package v1

import (
	"context"
	"sync"

	"acp-agent/acp/rpc"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// question is a request that the user answers.
type question struct {
	callID, method string
	// says follows the name of the agent in the chat, where it is told who asks.
	says string
	// params makes the params, anew each time that the question is asked.
	params func() any
}

// ask asks the user when it is the question's turn. In a context of the line the caller has it
// already, and asks again itself.
func (l *link) ask(ctx context.Context, q question, result any) error {
	if entryOf(ctx) != nil {
		return l.put(ctx, q, result)
	}
	return tools.InLine(ctx, l.translator.line, q.callID, func(asking context.Context) error { return l.put(asking, q, result) })
}

// put sends a question and waits for the answer. When ctx ends, the client is told with
// $/cancel_request, and an answer that comes later does nothing.
func (l *link) put(ctx context.Context, q question, result any) error {
	t := l.translator
	t.reveal(q.callID)
	t.line.sending.Lock()
	written := sync.OnceFunc(t.line.sending.Unlock)
	defer written()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a := entryOf(ctx); a.late {
		t.say(kinds.Code(pathOf(a.agents), namesRunes) + " " + q.says + "\n\n")
	}
	t.flush() // what led to the question is on the screen before it
	return l.conn.Call(rpc.WhenSent(ctx, written), q.method, q.params(), result)
}
