package anthropictest

import (
	"fmt"
	"slices"
	"strings"
)

// results: each call has its result in the next message, before all else in it, and a result
// has its call in the message before
// (platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls).
func (r *request) results() (problems []string) {
	used := map[string]bool{}
	var open []string // calls of the message before
	for i, m := range r.Messages {
		var got []string
		other := false
		for _, b := range m.Content {
			if b.Type != "tool_result" {
				other = true
				continue
			}
			if other {
				problems = append(problems, fmt.Sprintf("messages.%d: tool_result blocks must come first", i))
			}
			if !slices.Contains(open, b.ToolUse) || slices.Contains(got, b.ToolUse) {
				problems = append(problems, fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, b.ToolUse))
			}
			got = append(got, b.ToolUse)
		}
		if len(got) < len(open) {
			problems = append(problems, fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i, strings.Join(open, ", ")))
		}
		open = nil
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				if used[b.ID] {
					problems = append(problems, "messages: `tool_use` ids must be unique")
				}
				used[b.ID], open = true, append(open, b.ID)
			}
		}
	}
	return problems
}

// thinking: a block comes back unchanged, to the model that wrote it, with all blocks of its
// answer in their order (platform.claude.com/docs/en/build-with-claude/thinking, Preserving
// thinking blocks; "Invalid `signature` in `thinking` block"; "`thinking` or
// `redacted_thinking` blocks in the latest assistant message cannot be modified"). While
// tools are used with a budget, the last answer begins with thinking
// (github.com/anomalyco/opencode/issues/3077).
func (s *Server) thinking(r *request) (problems []string) {
	last := -1
	for i, m := range r.Messages {
		if m.Role != "assistant" {
			continue
		}
		last = i
		var sent []block
		for j, b := range m.Content {
			if !strings.HasSuffix(b.Type, "thinking") {
				continue
			}
			sent = append(sent, b)
			if !s.wrote(r.Model, b) {
				problems = append(problems, fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j))
			}
		}
		if len(sent) > 0 && len(problems) == 0 && len(sent) != len(s.answers[r.Model+sent[0].Signature+sent[0].Data]) {
			problems = append(problems, fmt.Sprintf("messages.%d: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified", i))
		}
	}
	if last < 0 || r.Thinking == nil || r.Thinking.Type != "enabled" {
		return problems
	}
	uses := slices.ContainsFunc(r.Messages[last].Content, func(b block) bool { return b.Type == "tool_use" })
	onlyResults := last+1 < len(r.Messages) && !slices.ContainsFunc(r.Messages[last+1].Content, func(b block) bool { return b.Type != "tool_result" })
	if first := r.Messages[last].Content[0].Type; uses && onlyResults && !strings.HasSuffix(first, "thinking") {
		problems = append(problems, fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. "+
			"When `thinking` is enabled, a final `assistant` message must start with a thinking block", last, first))
	}
	return problems
}

// wrote reports whether this server sent the block, just so, in an answer of the model.
func (s *Server) wrote(model string, b block) bool {
	for _, mine := range s.answers[model+b.Signature+b.Data] {
		if mine.Signature == b.Signature && mine.Data == b.Data && (b.Type == "redacted_thinking" || b.Thinking != nil && *mine.Thinking == *b.Thinking) {
			return true
		}
	}
	return false
}
