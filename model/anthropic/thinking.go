package anthropic

import (
	"strconv"

	"acp-agent/model"
	"acp-agent/model/wire"
	"acp-agent/transcript"
)

// noThought is the level that switches thinking off.
const noThought = "none"

// budgets are the tokens that a model with a budget may think, by level.
var budgets = map[string]int{"low": 4_000, "medium": 10_000, "high": 32_000}

// The bounds of max_tokens, which every request must have
// (platform.claude.com/docs/en/api/messages). A larger one costs nothing by itself, but
// models with 200,000 tokens refuse a request whose prompt does not fit beside it.
const (
	usualOutput = 32_000
	wideOutput  = 64_000 // of models with more than 200,000 tokens
	// leastBudget is the smallest budget that the API takes; leastAnswer is left for the
	// answer after it.
	leastBudget = 1_024
	leastAnswer = 1_024
)

// thinking is how a step thinks, and how long it may answer.
type thinking struct {
	kind   string // the type that is sent: "adaptive", "enabled", "disabled", or "" for none
	budget int
	effort string
	limit  int // max_tokens
}

// replays reports whether blocks of thinking are sent back. Where thinking is off they are
// ignored at best.
func (t *thinking) replays(a *abilities) bool {
	known := a.adaptive || a.budget
	return t.kind == "adaptive" || t.kind == "enabled" || t.kind == "" && !known
}

// thinkingOf decides how a step thinks. A model that chooses its thinking itself does so by
// default, and the user sees a summary: without "display" the newer ones send empty blocks
// (platform.claude.com/docs/en/build-with-claude/thinking, Controlling thinking display).
func (p *Provider) thinkingOf(req *model.Request, a *abilities, without relief) thinking {
	t := thinking{limit: p.limitOf(req, a)}
	if without.room > 0 {
		t.limit = min(t.limit, without.room)
	}
	switch level := req.ThoughtLevel; {
	case a.adaptive && level == noThought && a.off:
		t.kind = "disabled"
	case a.adaptive:
		t.kind = "adaptive"
		if level != noThought {
			t.effort = level
		}
	case a.budget && budgets[level] > 0 && !without.thinking:
		t.budget = budgets[level]
		if req.MaxTokens == 0 && without.room == 0 {
			t.limit = p.boundOutput(req.Model, a, t.limit+t.budget)
		}
		// budget_tokens must be at least 1,024 and less than max_tokens (the official
		// SDK's ThinkingConfigEnabled).
		t.budget = min(t.budget, t.limit-leastAnswer)
		if t.budget >= leastBudget && p.mayUseBudget(req) {
			t.kind = "enabled"
		}
	}
	return t
}

// limitOf is max_tokens of a step that does not think.
func (p *Provider) limitOf(req *model.Request, a *abilities) int {
	switch {
	case req.MaxTokens > 0:
		return p.boundOutput(req.Model, a, req.MaxTokens)
	case a.window > 200_000:
		return p.boundOutput(req.Model, a, wideOutput)
	}
	return p.boundOutput(req.Model, a, usualOutput)
}

// boundOutput bounds max_tokens by what the model and its server take.
func (p *Provider) boundOutput(id string, a *abilities, limit int) int {
	if a.output > 0 {
		limit = min(limit, a.output)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if named := p.limits[id]; named > 0 {
		limit = min(limit, named)
	}
	return limit
}

// mayUseBudget reports whether a step may think with a budget: while tools are used, the
// last assistant message must then begin with a block of thinking, which another model or
// another level may not have written ("Expected `thinking` or `redacted_thinking`, but found
// `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a
// thinking block": github.com/anomalyco/opencode/issues/3077, Kilo-Org/kilocode/issues/5219).
func (p *Provider) mayUseBudget(req *model.Request) bool {
	if len(req.Messages) == 0 {
		return true
	}
	last := req.Messages[len(req.Messages)-1]
	if last.Role != transcript.Assistant || last.Synthetic || len(last.Calls()) == 0 {
		return true
	}
	return p.replayer(req, true).first(last)
}

// params are max_tokens and the members that say how to think. The latter are wishes: what the
// server refuses is left out the next time.
func (t *thinking) params() []wire.Param {
	params := []wire.Param{{Name: "max_tokens", Text: strconv.AppendInt(nil, int64(t.limit), 10)}}
	switch t.kind {
	case "adaptive":
		params = append(params, wire.Param{Name: "thinking", Text: []byte(`{"type":"adaptive","display":"summarized"}`)})
	case "enabled":
		text := strconv.AppendInt([]byte(`{"type":"enabled","budget_tokens":`), int64(t.budget), 10)
		params = append(params, wire.Param{Name: "thinking", Text: append(text, '}')})
	case "disabled":
		params = append(params, wire.Param{Name: "thinking", Text: []byte(`{"type":"disabled"}`)})
	}
	if t.effort != "" {
		text := wire.AppendString([]byte(`{"effort":`), t.effort)
		params = append(params, wire.Param{Name: "output_config", Text: append(text, '}')})
	}
	return params
}
