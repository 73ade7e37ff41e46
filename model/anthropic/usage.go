package anthropic

import "acp-agent/transcript"

// usage is a server's count of tokens. Input does not count cached tokens in; output counts
// thinking in. Those of message_delta are of the whole message, and what is missing there is
// that of message_start (MessageDeltaUsage of the official SDK).
type usage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
	Details    struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// add takes a later count.
func (u *usage) add(v *usage) {
	if v == nil {
		return
	}
	for _, pair := range [][2]*int{
		{&u.Input, &v.Input},
		{&u.CacheRead, &v.CacheRead},
		{&u.CacheWrite, &v.CacheWrite},
		{&u.Output, &v.Output},
		{&u.Details.Thinking, &v.Details.Thinking},
	} {
		if *pair[1] > 0 {
			*pair[0] = *pair[1]
		}
	}
}

// count makes five numbers that add up without counting anything twice (R137); nil when
// nothing was counted.
func (u *usage) count() *transcript.Usage {
	output := max(u.Output, 0)
	thinking := min(max(u.Details.Thinking, 0), output)
	counted := &transcript.Usage{
		Input: max(u.Input, 0), CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0),
		Output: output - thinking, Reasoning: thinking,
	}
	if counted.Total() == 0 {
		return nil
	}
	return counted
}
