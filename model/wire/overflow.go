package wire

import (
	"strings"

	"acp-agent/model"
)

// overflowLabels are the codes and types of an error that say that a request was too long.
// testdata/overflow.json has the public source of each.
var overflowLabels = []string{
	"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "request_too_large",
	"string_above_max_length", "model_max_prompt_tokens_exceeded", "tokens_limit_reached",
}

// overflowWords are what messages say of a request that was too long, in lower case, for
// servers whose codes do not.
var overflowWords = []string{
	"maximum context length", "maximum prompt length", "context length exceeded", "exceeds the context", "context size",
	"context window", "model's context length", "greater than the context length", "context the overflows", "exceed context limit",
	"prompt is too long", "prompt too long", "input is too long", "request too large", "input token count",
	"input tokens exceed", "longer than the maximum model length", "exceeded model token limit", "exceeds max length",
	"range of input length should be", "reduce the length of the", "prompt token count", "cannot truncate prompt",
	"`inputs` tokens + `max_new_tokens`", "`inputs` must have less than", "exceeds the maximum allowed length",
	"string value length",
}

// Overflow reports whether the request was too long for the model. Some servers
// answer so with 429 (a request larger than the whole allowance of a minute) or
// with 500.
func (d *Detail) Overflow(status int) bool {
	if status == 413 {
		return true
	}
	for _, label := range []string{strings.ToLower(d.Code), strings.ToLower(d.Kind)} {
		for _, known := range overflowLabels {
			if label == known {
				return true
			}
		}
	}
	return d.Contains(overflowWords...)
}

// WindowFull reports whether a server says by its finish or stop reason that the answer
// ended because the window has no room left: Anthropic and GLM
// (platform.claude.com/docs/en/build-with-claude/handling-stop-reasons), Mistral.
func WindowFull(reason string) bool {
	switch strings.ToLower(reason) {
	case "model_context_window_exceeded", "model_length":
		return true
	}
	return false
}

// FullWarning is the warning for the user about such an end.
func FullWarning() model.Chunk {
	return model.Chunk{
		Kind: model.Warning, Title: "The context is full",
		Text: "The answer ends here because the model's window has no room left. `/compact` makes room for the next one; a model with a larger window has more.",
	}
}
