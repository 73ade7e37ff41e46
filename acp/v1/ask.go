package v1

import (
	"context"
	"errors"
	"sync"

	"acp-agent/acp/rpc"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// question is a request that the user answers.
type question struct {
	callID, method string
	// announcement follows the name of the subagent in the chat, where the chat announces the
	// question.
	announcement string
	// params makes the params of the request, anew each time that the question is asked.
	params func() any
}

// ask asks the user when the queue opens the question. If the context is one of the queue,
// the caller is in the queue already, and asks again itself after a withdrawal.
func (l *link) ask(ctx context.Context, q question, result any) error {
	if queuedIn(ctx) != nil {
		return l.sendQuestion(ctx, q, result)
	}
	return tools.AskInTurn(ctx, l.translator.questions, q.callID, func(asking context.Context) error {
		return l.sendQuestion(asking, q, result)
	})
}

// sendQuestion sends a question and waits for the answer. When ctx ends, $/cancel_request
// notifies the client, and a later answer has no effect.
func (l *link) sendQuestion(ctx context.Context, q question, result any) error {
	t := l.translator
	t.showForQuestion(q.callID)
	t.questions.sending.Lock()
	written := sync.OnceFunc(t.questions.sending.Unlock)
	defer written()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if entry := queuedIn(ctx); entry.announce {
		t.say(kinds.Code(pathOf(entry.agents), namesRunes) + " " + q.announcement + "\n\n")
	}
	t.flush() // what led to the question is on the screen before it
	err := l.conn.Call(rpc.WhenSent(ctx, written), q.method, q.params(), result)
	if errors.Is(err, rpc.ErrClosed) {
		// The client is gone, and the end of its sessions is under way. An agent that
		// took this for an answer would call the model once more.
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return err
}
