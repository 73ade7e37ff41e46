package main

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/config"
)

// loginProvider is a model server as `acp-agent login` offers it.
type loginProvider struct {
	id, name string
	// baseURL is its address; empty means that the user gives it.
	baseURL string
	// check is the path of a request that costs nothing and that a wrong key fails.
	check string
	// model is the model of new sessions unless the user names one; empty means that
	// the server's list decides.
	model string
	// keys is where the user gets a key.
	keys string
	// needsKey says that the server answers no one without a key.
	needsKey bool
}

// otherProvider is a server that only its address names.
const otherProvider = "other"

// loginProviders are the servers on offer, in the order in which they are offered.
func loginProviders() []loginProvider {
	return []loginProvider{
		{
			id: "openai", name: "OpenAI", baseURL: config.DefaultBaseURL, check: "/models", model: defaultModel,
			keys: "https://platform.openai.com/api-keys", needsKey: true,
		},
		{
			// Its list of models is open to all; /key is what a wrong key fails
			// (openrouter.ai/docs/api-reference, "Get current API key").
			id: "openrouter", name: "OpenRouter", baseURL: "https://openrouter.ai/api/v1", check: "/key", model: "openrouter/auto",
			keys: "https://openrouter.ai/settings/keys", needsKey: true,
		},
		{id: otherProvider, name: "another server, by its address (Ollama, llama.cpp, LM Studio, vLLM, ...)", check: "/models"},
	}
}

// findProvider returns the provider that a user named by its id or its number.
func findProvider(text string) (loginProvider, error) {
	all := loginProviders()
	text = strings.ToLower(strings.TrimSpace(text))
	for i, p := range all {
		if text == p.id || text == fmt.Sprint(i+1) {
			return p, nil
		}
	}
	return loginProvider{}, fmt.Errorf("there is no provider %q; choose one of %s", text, strings.Join(providerIDs(), ", "))
}

// providerAt returns the provider whose address is given: one that is known by name, or
// another one.
func providerAt(baseURL string) loginProvider {
	all := loginProviders()
	if i := slices.IndexFunc(all, func(p loginProvider) bool { return p.baseURL == baseURL }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

func providerIDs() []string {
	var ids []string
	for _, p := range loginProviders() {
		ids = append(ids, p.id)
	}
	return ids
}
