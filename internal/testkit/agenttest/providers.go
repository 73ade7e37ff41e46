package agenttest

import (
	"testing"

	"acp-agent/internal/testkit/testfile"
)

// providerConfig is a configuration that chooses a model and the API of its server.
const providerConfig = `{"model": {"api": %q, "name": %q, "base_url": %q, "thought_level": %q}}`

// AnthropicEnv returns the environment of an agent that asks a server by Anthropic's API.
// The variables of OpenAI are set, too, and must not count.
func AnthropicEnv(tb testing.TB, url, model, level string) []string {
	tb.Helper()
	return []string{
		testfile.Config(tb, providerConfig, "anthropic", model, url, level), "ANTHROPIC_API_KEY=sk-ant-of-the-test-0123456789",
		"OPENAI_API_KEY=wrong", "OPENAI_MODEL=wrong", "OPENAI_BASE_URL=http://127.0.0.1:9/v1",
	}
}

// ResponsesEnv returns the environment of an agent that asks a server of OpenAI's by the
// API of that name, chat or responses.
func ResponsesEnv(tb testing.TB, url, api, level string) []string {
	tb.Helper()
	return []string{testfile.Config(tb, providerConfig, api, "gpt-test-9", url, level), "OPENAI_API_KEY=sk-of-the-test-0123456789"}
}
