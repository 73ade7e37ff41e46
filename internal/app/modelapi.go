package app

import "acp-agent/config"

// defaultClaude is asked of Anthropic when no model was named.
const defaultClaude = "claude-sonnet-5-5"

// hostedModel is asked of the default server of an API when no model was named.
func hostedModel(m config.Model) string {
	if m.API == config.APIAnthropic {
		return defaultClaude
	}
	return defaultModel
}
