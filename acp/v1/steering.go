package v1

import (
	"context"

	"acp-agent/acp/rpc"
)

// methodSteer is an extension that several agents and clients share: it puts a message into the
// running turn, which goes on until the model has answered it (R143). Params are those of
// session/prompt. The result names the outcome. The _meta of the answer to initialize announces it.
const methodSteer = "_session/steering"

// The outcomes of methodSteer.
const (
	outcomeInjected = "injected"
	outcomeStarted  = "startedNewTurn"
	// outcomePromptRequired says that nothing happened: the client is to send the message as a prompt.
	outcomePromptRequired = "promptRequired"
)

// metaSteering is that _meta.
func metaSteering() map[string]any {
	return map[string]any{"steering": map[string]any{"supported": true}}
}

// steer handles methodSteer on the read loop, so that whatever follows it on the wire, above all a
// cancel, finds the message.
func (a *Agent) steer(req *rpc.Request) rpc.Body {
	s, p, err := a.prompted(req)
	if err != nil {
		return fail(err)
	}
	steering, _ := p.meta["steering"].(map[string]any)
	turn, injected := s.Steer(p.parts, steering["idleBehavior"] != outcomePromptRequired)
	if turn == nil {
		return answer(map[string]string{"outcome": outcomePromptRequired, "reason": "noRunningTurn"})
	}
	s.translator.promptReceived()
	outcome := outcomeStarted
	if injected {
		outcome = outcomeInjected
	}
	return func(context.Context) rpc.Reply {
		return rpc.Reply{Result: map[string]string{"outcome": outcome}, Then: func() {
			s.Attend(turn)
			s.translator.promptAnswered()
		}}
	}
}
