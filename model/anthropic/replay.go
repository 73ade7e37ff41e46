package anthropic

import (
	"bytes"
	"encoding/json"

	"acp-agent/model"
	"acp-agent/transcript"
)

// replayer writes the messages of a conversation for one model.
type replayer struct {
	origin string
	images bool
	// thinking says that blocks of thinking are sent; signed that only signed ones are.
	thinking, signed bool
	// stale are the messages whose signatures the server refused.
	stale map[*transcript.Message]bool
}

// replayer returns what writes the messages of a request.
func (p *Provider) replayer(req *model.Request, thinking bool) *replayer {
	r := &replayer{
		origin: p.origin(req.Model), thinking: thinking, signed: p.official(),
		images: p.info(req.Model).Images != model.No,
	}
	if req.Memo != nil {
		if m, ok := req.Memo.Value.(*memo); ok {
			r.stale = m.stale
		}
	}
	return r
}

// block is a block of thinking as it goes back: the bytes that came, or nil where this
// server would refuse them. A signature holds for the model that made it
// (github.com/vybestack/llxprt-code/issues/2335, github.com/weave-os/router/pull/279) and
// for unchanged blocks; what is not sent is never refused for it. Other servers want back
// blocks without a signature (DeepSeek: github.com/agentscope-ai/agentscope-java/issues/2400).
func (r *replayer) block(m *transcript.Message, part *transcript.ReasoningPart) []byte {
	if !r.thinking || m.Origin != r.origin || r.stale[m] || !json.Valid(part.Replay) {
		return nil
	}
	if r.signed && bytes.Contains(part.Replay, []byte(`"signature":""`)) {
		return nil
	}
	return part.Replay
}

// first reports whether an answer is written with a block of thinking before all else.
func (r *replayer) first(m *transcript.Message) bool {
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.ReasoningPart:
			if r.block(m, part) != nil {
				return true
			}
		case *transcript.TextPart, *transcript.ToolPart:
			return false
		}
	}
	return false
}
