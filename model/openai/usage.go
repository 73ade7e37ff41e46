package openai

import "acp-agent/transcript"

// usage is a server's count of tokens. Input counts cached tokens in; output
// counts reasoning in, with some servers.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`

	PromptDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	// Where some servers put the cached tokens instead.
	Cached   int `json:"cached_tokens"`
	CacheHit int `json:"prompt_cache_hit_tokens"`
}

// count makes five numbers that add up without counting anything twice (R137).
func (u *usage) count() *transcript.Usage {
	read := clamp(max(u.PromptDetails.Cached, u.Cached, u.CacheHit), u.Prompt)
	written := clamp(u.PromptDetails.Written, u.Prompt-read)
	input := max(u.Prompt, 0) - read - written
	output, reasoning := max(u.Completion, 0), max(u.CompletionDetails.Reasoning, 0)
	apart := reasoning > 0 && u.Total == u.Prompt+u.Completion+reasoning
	if !apart {
		reasoning = clamp(reasoning, output)
		output -= reasoning
	}
	return &transcript.Usage{Input: input, CacheRead: read, CacheWrite: written, Output: output, Reasoning: reasoning}
}

func (u *usage) empty() bool { return u == nil || u.Prompt <= 0 && u.Completion <= 0 }

// clamp bounds n by 0 and limit.
func clamp(n, limit int) int { return max(min(n, limit), 0) }
