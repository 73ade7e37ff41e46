package responses

import "acp-agent/transcript"

// usage is a server's count of tokens. Input counts cached tokens in, output counts
// reasoning in (ResponseUsage of the official SDK).
type usage struct {
	Input        int `json:"input_tokens"`
	Output       int `json:"output_tokens"`
	InputDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// count makes five numbers that add up without counting anything twice (R137); nil when
// nothing was counted.
func (u *usage) count() *transcript.Usage {
	if u == nil {
		return nil
	}
	input, output := max(u.Input, 0), max(u.Output, 0)
	read := max(min(u.InputDetails.Cached, input), 0)
	written := max(min(u.InputDetails.Written, input-read), 0)
	reasoning := max(min(u.OutputDetails.Reasoning, output), 0)
	counted := &transcript.Usage{
		Input: input - read - written, CacheRead: read, CacheWrite: written,
		Output: output - reasoning, Reasoning: reasoning,
	}
	if counted.Total() == 0 {
		return nil
	}
	return counted
}
