package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"acp-agent/model/preset"
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
	// local says that it runs on the user's machine; its address may be another.
	local bool
}

// otherProvider is a server that only its address names.
const otherProvider = "other"

// loginProviders are the servers on offer, in the order in which they are offered: the
// presets with Chat Completions, of which the login can test a key, and any other by its
// address.
func loginProviders() []loginProvider {
	var list []loginProvider
	for _, p := range preset.All() {
		if cmp.Or(p.API, preset.Chat) != preset.Chat {
			continue
		}
		list = append(list, loginProvider{
			id: p.Name, name: p.Title, baseURL: p.BaseURL, check: p.Check, model: p.Model, keys: p.KeyURL, needsKey: p.NeedsKey, local: p.Local,
		})
	}
	return append(list, loginProvider{id: otherProvider, name: "another server, by its address", check: "/models"})
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
