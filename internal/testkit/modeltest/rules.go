package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// thought is the reasoning of step n, with what an encoder might change. Each fifth step has
// none.
func thought(n int) string {
	if n%5 == 4 {
		return ""
	}
	return fmt.Sprintf("Step %d:\n a <b> & \"c\" \u2028 \u00e9\U0001F600\\ ", n)
}

// quoted is text as the JSON that a client sends.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), `\u2028`, "\u2028")
}

// inField are deltas of a thought in a field, in pieces.
func inField(field string) func(int) []string {
	return func(n int) []string {
		var deltas []string
		for _, piece := range split(thought(n), 3) {
			deltas = append(deltas, `{"`+field+`":`+quoted(piece)+`}`)
		}
		return deltas
	}
}

// back is the field with the thought of a step, as it must come back; fill is the value of a step
// without a thought, "" where the field must be absent then.
func back(field, fill string) func(int) map[string]string {
	return func(n int) map[string]string {
		switch {
		case thought(n) != "":
			return map[string]string{field: quoted(thought(n))}
		case fill != "":
			return map[string]string{field: fill}
		}
		return nil
	}
}

func none(int) map[string]string { return nil }

const (
	unsupported = "'messages.%d' : for 'role:assistant' the following must be satisfied[('messages' : property '%s' is unsupported)]"
	signature   = `{"google":{"thought_signature":"CrIC<%d>&=="}}`
	standIn     = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`
)

// Rules are those of the servers that are known to have one, each with its source.
func Rules() []Rule { return append(append(fieldRules(), blockRules()...), tagRules()...) }

// fieldRules are those of servers with the text in a member of its own.
func fieldRules() []Rule {
	fieldRule := func(name, field string) Rule {
		return Rule{
			Name: name, BaseURL: "http://localhost:8080/v1", Model: name, Deltas: inField(field), Members: back(field, ""),
			Missing: "message %d has lost its %s", Unknown: "message %d has an unexpected %s",
		}
	}
	deepseek, kimi, glm := fieldRule("deepseek-v4-pro", "reasoning_content"), fieldRule("kimi-k2.6", "reasoning_content"), fieldRule("glm-5", "reasoning_content")
	deepseek.Source = "https://api-docs.deepseek.com/guides/thinking_mode; https://github.com/earendil-works/pi/issues/3636; https://github.com/deepseek-ai/deepseek-harness/discussions/739"
	deepseek.BaseURL, deepseek.Learned = "https://api.deepseek.com", 1
	deepseek.Members, deepseek.Others = back("reasoning_content", `""`), map[string]string{"reasoning_content": `""`}
	deepseek.Missing = "The `reasoning_content` in the thinking mode must be passed back to the API.%.0d%.0s"
	kimi.Source = "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model; https://github.com/theopenco/llmgateway/pull/2093"
	kimi.BaseURL, kimi.Learned = "https://api.moonshot.ai/v1", 2
	kimi.Members, kimi.Others = back("reasoning_content", `" "`), map[string]string{"reasoning_content": `" "`}
	kimi.Missing = "thinking is enabled but reasoning_content is missing in assistant tool call message at index %d%.0s"
	glm.Source, glm.BaseURL = "https://docs.z.ai/guides/capabilities/thinking-mode", "https://api.z.ai/api/paas/v4"

	mimo := deepseek
	mimo.Name, mimo.Model, mimo.BaseURL = "mimo-v2.5-pro", "mimo-v2.5-pro", "https://token-plan-ams.xiaomimimo.com/v1"
	mimo.Source = "https://platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content; https://github.com/earendil-works/pi/issues/4504"

	llama, vllm, cerebras := fieldRule("llama.cpp", "reasoning_content"), fieldRule("vllm", "reasoning"), fieldRule("cerebras", "reasoning")
	llama.Source = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"
	vllm.Source = "https://github.com/vllm-project/vllm/pull/33402; https://github.com/anomalyco/opencode/pull/30477"
	cerebras.Source, cerebras.BaseURL = "https://github.com/QwenLM/qwen-code/issues/11045; https://github.com/Kilo-Org/kilocode/issues/10375", "https://api.cerebras.ai/v1"
	cerebras.Unknown = "messages.%d.assistant: property '%s' is unsupported"

	groq, reasoner, forbids := fieldRule("groq", "reasoning"), fieldRule("deepseek-r1", "reasoning_content"), fieldRule("forbids", "reasoning_content")
	groq.Source, groq.BaseURL = "https://github.com/karthink/gptel/issues/774; https://github.com/janhq/jan/issues/8136", "https://api.groq.com/openai/v1"
	groq.Members, groq.Unknown, groq.Learned, groq.Known = none, unsupported, 1, 1
	reasoner.Source = "https://api-docs.deepseek.com/guides/reasoning_model (2025)"
	reasoner.Members, reasoner.Unknown, reasoner.Learned, reasoner.Known = none, "message %d: the %s field is not allowed in input messages", 1, 1
	forbids.Source = "https://docs.mistral.ai/api (extra_forbidden)"
	forbids.Status, forbids.Members, forbids.Learned, forbids.Known = 422, none, 1, 1
	forbids.Unknown = `{"type":"extra_forbidden","loc":["body","messages",%d,"assistant","%s"],"msg":"Extra inputs are not permitted"}`
	return []Rule{deepseek, mimo, kimi, glm, llama, vllm, cerebras, groq, reasoner, forbids}
}

// blockRules are those of servers that want more back than text.
func blockRules() []Rule {
	claude := Rule{
		Name: "claude", BaseURL: "https://openrouter.ai/api/v1", Model: "anthropic/claude-sonnet-4.5",
		Source: "https://openrouter.ai/docs/guides/best-practices/reasoning-tokens (preserving reasoning); https://github.com/langchain-ai/langchain/issues/36400",
		Deltas: func(n int) []string {
			if thought(n) == "" {
				return []string{`{"reasoning":null,"reasoning_details":[]}`}
			}
			head := `"type":"reasoning.text","format":"anthropic-claude-v1","index":0`
			return []string{
				`{"reasoning":"Step","reasoning_details":[{` + head + `,"text":"Step","signature":null}]}`,
				`{"reasoning":" <1> \u00e9","reasoning_details":[{` + head + `,"text":" <1> \u00e9"}]}`,
				`{"content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.encrypted","data":"Er<&A==","index":1,"id":null}]}`,
				`{"reasoning_details":[{` + head + `,"signature":"Sig/+<&>=="}]}`,
			}
		},
		Members: func(n int) map[string]string {
			if thought(n) == "" {
				return nil
			}
			return map[string]string{"reasoning_details": `[{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"text":"Step <1> é","signature":"Sig/+<&>=="},` +
				`{"type":"reasoning.encrypted","data":"Er<&A==","index":1,"id":null}]`}
		},
		Missing: "messages.%d: reasoning blocks cannot be modified: %s", Unknown: "messages.%d.%s: Extra inputs are not permitted",
	}
	encrypted := claude
	encrypted.Name, encrypted.Model = "gpt", "openai/gpt-5.2"
	encrypted.Deltas = func(int) []string {
		return []string{`{"reasoning_details":[{"type":"reasoning.summary","summary":"I ","index":0},{"type":"reasoning.encrypted","data":"gA<A","id":"rs_1","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.summary","summary":"look","index":0}]}`}
	}
	encrypted.Members = func(int) map[string]string {
		return map[string]string{"reasoning_details": `[{"type":"reasoning.summary","summary":"I look","index":0},{"type":"reasoning.encrypted","data":"gA<A","id":"rs_1","index":0}]`}
	}
	moved := claude
	moved.Name, moved.Model, moved.Learned, moved.Known = "moved", "anthropic/claude-opus-4.5", 1, 1
	moved.Source = "https://github.com/can1357/oh-my-pi/issues/3399; https://github.com/linanwx/nagobot/issues/21"
	moved.Members, moved.Unknown = none, "messages.%d.content.0: Invalid `signature` in `thinking` block%.0s"

	gemini := Rule{
		Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Model: "gemini-3-pro-preview", Learned: 1,
		Source: "https://ai.google.dev/gemini-api/docs/thought-signatures; https://discuss.ai.google.dev/t/109823",
		Deltas: func(int) []string { return nil }, Extra: func(n int) string { return fmt.Sprintf(signature, n) },
		OthersExtra: standIn, Unknown: "Invalid JSON payload received. Unknown name at 'messages[%d]': \"%s\"",
		Missing: "Function call is missing a thought_signature in functionCall parts. Message %d%.0s",
	}
	mistral := Rule{
		Name: "mistral", BaseURL: "https://api.mistral.ai/v1", Model: "magistral-medium-2507", Status: 422,
		Source: "https://docs.mistral.ai/capabilities/reasoning; https://github.com/langchain4j/langchain4j/pull/4474",
		Deltas: func(n int) []string {
			var deltas []string
			for _, piece := range split(thought(n), 3) {
				deltas = append(deltas, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":`+quoted(piece)+`}]}]}`)
			}
			return deltas
		},
		Content: func(n int, text string, _ bool) string {
			if thought(n) == "" {
				return plainContent(text)
			}
			b := `[{"type":"thinking","thinking":[{"type":"text","text":` + quoted(thought(n)) + `}]}`
			if text != "" {
				b += `,{"type":"text","text":` + quoted(text) + `}`
			}
			return b + `]`
		},
		Unknown: `{"type":"extra_forbidden","loc":["body","messages",%d,"assistant","%s"],"msg":"Extra inputs are not permitted"}`,
	}
	return []Rule{claude, encrypted, moved, gemini, mistral}
}

// tagRules are those of servers with the reasoning in the text.
func tagRules() []Rule {
	tagRule := func(name, source, open, end string) Rule {
		return Rule{
			Name: name, BaseURL: "http://localhost:8000/v1", Model: name, Source: source,
			Unknown: "message %d has an unexpected %s",
			Deltas: func(n int) []string {
				var deltas []string
				for _, piece := range split(open+thought(n)+end, 7) {
					deltas = append(deltas, `{"content":`+quoted(piece)+`}`)
				}
				return deltas
			},
			Content: func(n int, text string, past bool) string {
				if past {
					return plainContent(text)
				}
				return quoted(open + thought(n) + end + text)
			},
		}
	}
	return []Rule{
		tagRule("minimax-m2", "https://platform.minimax.io/docs/guides/text-m2-function-call; https://huggingface.co/MiniMaxAI/MiniMax-M2 (card and chat template)", "<think>\n", "\n</think>\n\n"),
		tagRule("qwen3", "https://huggingface.co/Qwen/Qwen3-235B-A22B (best practices: no thinking content in history; its template keeps that behind the last query)", " <think>", "</think>"),
	}
}

func plainContent(text string) string {
	if text == "" {
		return "null"
	}
	return quoted(text)
}
