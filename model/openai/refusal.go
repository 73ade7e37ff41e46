package openai

import (
	"errors"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// learnRule takes from an error how the server wants reasoning back, remembers it for the
// model, and reports whether the request is worth another try. sent are the fields that
// the request had. Each try learns something new, so there is an end to them.
//
// The words are those of DeepSeek ("must be passed back", "Missing reasoning_content field
// in the assistant message": anomalyco/opencode 24083, 9397), Kimi ("reasoning_content is
// missing": n8n 29142), Gemini ("missing a thought_signature": discuss.ai.google.dev
// 109823), Groq and Cerebras ("property 'reasoning_content' is unsupported": janhq/jan
// 8136, Kilo-Org/kilocode 10375), and what other servers answer to an unknown member.
func (p *Provider) learnRule(id string, sent field, err error) bool {
	var e *model.Error
	var d *wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.Status != 400 && e.Status != 422 || e.Interrupted {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before, ok := p.rules[id]
	if !ok {
		before = p.firstRules(id)
	}
	after := before.afterRefusal(d, sent)
	if after == before {
		return false
	}
	p.opts.Logger.Debug("model server has a rule for reasoning", "model", id, "said", d.Message)
	p.rules[id] = after
	return true
}

// afterRefusal are the rules with what an error says of them.
func (r rules) afterRefusal(d *wire.Detail, sent field) rules {
	d = &wire.Detail{Message: d.Message + " " + d.Param} // MiMo says it in param (earendil-works/pi 4504)
	missing := d.Contains("missing", "must be passed back", "is required")
	signature := d.Contains("thought_signature", "thought signature")
	switch {
	case missing && signature:
		r.standIn = true
	case missing && d.Names("reasoning_content"):
		r.fill = min(r.fill+1, fillSpace)
	case missing:
	case signature:
		// It is damaged, or another server's: the stand-in is taken in its place.
		r.refused, r.standIn = r.refused|sent&inExtra, true
	case d.Contains("signature", "encrypted content", "encrypted_content"):
		// A router that asks another host than last time has this, for Claude and GPT.
		r.refused |= sent & inDetails
	default:
		for _, name := range fieldNames {
			if sent&name.field != 0 && name.wire != "" && d.Names(name.wire) {
				r.refused |= name.field
			}
		}
		if r.refused&inReasoningContent != 0 {
			r.fill = fillNone
		}
		if d.Names("extra_content") {
			r.standIn = false
		}
	}
	return r
}
