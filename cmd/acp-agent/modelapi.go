package main

import (
	"acp-agent/config"
	"acp-agent/model"
	"acp-agent/model/anthropic"
	"acp-agent/model/openai"
)

// defaultClaude is asked of Anthropic when no model was named.
const defaultClaude = "claude-sonnet-5-5"

// hostedModel is asked of the default server of an API when no model was named.
func hostedModel(m config.Model) string {
	if m.API == config.APIAnthropic {
		return defaultClaude
	}
	return defaultModel
}

// openModel makes the provider for the API that a server speaks; it does not touch the
// network. What is known of a model without a name holds for the one called name.
func (c *core) openModel(m config.Model, key config.Secret, name string) (model.Provider, error) {
	if m.API == config.APIAnthropic {
		return anthropic.New(anthropic.Options{
			BaseURL: m.BaseURL, APIKey: key.Reveal(), Headers: reveal(m.Headers),
			ExtraBody: extraBody(m.ExtraBody), Window: windows(m, name), Images: images(m, name),
			IdleTimeout: m.IdleTimeout.Duration, StartTimeout: m.StartTimeout.Duration,
			ContentTimeout: m.ContentTimeout.Duration, KeepAliveTimeout: m.KeepAliveTimeout.Duration,
			Version: version, Logger: c.logger.Logger, Clean: c.keys.Known,
		})
	}
	return openai.New(openai.Options{
		BaseURL: m.BaseURL, APIKey: key.Reveal(), Headers: reveal(m.Headers),
		ExtraBody: extraBody(m.ExtraBody), Window: windows(m, name), Images: images(m, name),
		IdleTimeout: m.IdleTimeout.Duration, StartTimeout: m.StartTimeout.Duration,
		ContentTimeout: m.ContentTimeout.Duration, KeepAliveTimeout: m.KeepAliveTimeout.Duration,
		Version: version, Logger: c.logger.Logger, Clean: c.keys.Known,
	})
}
