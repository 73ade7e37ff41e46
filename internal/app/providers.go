package app

import (
	"maps"
	"slices"

	"acp-agent/config"
	"acp-agent/tools/provider"
)

// providers are the user's external tool providers, by name (R94).
func (c *core) providers(external config.External) []provider.Config {
	if c.readOnly {
		return nil
	}
	var list []provider.Config
	for _, name := range slices.Sorted(maps.Keys(external.ToolProviders)) {
		p := external.ToolProviders[name]
		list = append(list, provider.Config{
			Name: name, Type: p.Type, Command: p.Command, Args: p.Args, Env: p.Env.List(), Network: p.Network.Open(), Hosts: p.Network.Hosts,
			URL: p.URL, Headers: plainHeaders(p.Headers),
		})
	}
	return list
}
