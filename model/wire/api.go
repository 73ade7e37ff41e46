package wire

// WantsResponses reports whether an error of Chat Completions says that the model, or what
// is asked of it, exists in the Responses API alone. The words are those of OpenAI ("This
// model is only supported in v1/responses and not in v1/chat/completions.": openai/codex
// issues 1306 and 1346; "Function tools with reasoning_effort are not supported for gpt-5.6
// in /v1/chat/completions. To use function tools, use /v1/responses or set …":
// GoogleChromeLabs/webmcp-tools issue 417; "This is not a chat model and thus not supported
// in the v1/chat/completions endpoint.", said of gpt-5.1-codex: Portkey-AI/gateway issue
// 1445) and GitHub Copilot ("model gpt-5-codex is not accessible via the /chat/completions
// endpoint", unsupported_api_for_model: anomalyco/opencode issue 2977).
func (d *Detail) WantsResponses() bool {
	return d.Label() == "unsupported_api_for_model" || d.Contains("v1/responses", "not a chat model and thus not supported")
}
