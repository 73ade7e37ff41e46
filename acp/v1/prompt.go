package v1

import (
	"context"
	"encoding/json"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// prompt queues a prompt on the read loop, so that whatever follows it on the wire, above all
// a cancel, finds it.
func (a *Agent) prompt(req *rpc.Request) rpc.Body {
	s, p, err := a.prompted(req)
	if err != nil {
		return fail(err)
	}
	s.translator.promptReceived()
	turn := s.Prompt(p.parts)
	return func(ctx context.Context) rpc.Reply {
		stop, err := turn.Wait(ctx)
		s.translator.promptAnswered()
		if err != nil {
			return rpc.Reply{Err: wireError(err), Then: turn.Release}
		}
		reason := schema.StopReason(stop)
		reply := rpc.Reply{Result: &schema.PromptResponse{StopReason: reason}, Then: turn.Release}
		if reason == schema.StopReasonCancelled {
			return s.startingQuiet(a.conn, reply)
		}
		return reply
	}
}

// prompted is what a client says to a session.
type prompted struct {
	parts []transcript.Part
	meta  map[string]any
}

// prompted reads the params of session/prompt, and finds the session.
func (a *Agent) prompted(req *rpc.Request) (*open, prompted, error) {
	var params schema.PromptRequest
	if err := decode(req, &params); err != nil {
		return nil, prompted{}, err
	}
	s := a.session(string(params.SessionID))
	if s == nil {
		return nil, prompted{}, unknownSession(string(params.SessionID))
	}
	parts, err := promptParts(params.Prompt)
	if err != nil {
		return nil, prompted{}, badParams(req, err)
	}
	return s, prompted{parts, params.Meta}, nil
}

// cancel cancels the running turn of a session and the prompts in its queue.
func (a *Agent) cancel(params json.RawMessage) {
	var note schema.CancelNotification
	if err := schema.Decode(params, &note); err != nil {
		a.Logger.Debug("cancel without a session")
		return
	}
	if s := a.session(string(note.SessionID)); s != nil {
		s.Cancel()
	}
}
