package v1

import (
	"context"
	"encoding/json"

	"acp-agent/acp/rpc"
)

// methodCancelCall is our extension that ends one tool call without its turn (R126): params
// {sessionId, toolCallId}, result {cancelled}. The _meta of the agent's capabilities
// announces it.
const methodCancelCall = "_acp-agent/cancel_tool_call"

// metaCancelCall is that _meta.
func metaCancelCall() map[string]any {
	return map[string]any{"acp-agent": map[string]any{"cancelToolCall": methodCancelCall}}
}

func (a *Agent) cancelCall(req *rpc.Request) rpc.Body {
	var params struct {
		SessionID  string `json:"sessionId"`
		ToolCallID string `json:"toolCallId"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || params.SessionID == "" || params.ToolCallID == "" {
		return fail(rpc.Errorf(rpc.CodeInvalidParams, "%s: sessionId and toolCallId must be texts", req.Method))
	}
	s := a.session(params.SessionID)
	if s == nil {
		return fail(unknownSession(params.SessionID))
	}
	return func(context.Context) rpc.Reply {
		return rpc.Reply{Result: map[string]bool{"cancelled": s.CancelCall(params.ToolCallID)}}
	}
}
