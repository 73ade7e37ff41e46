package app

import (
	"cmp"

	"acp-agent/config"
	"acp-agent/model/catalogue"
	"acp-agent/model/router"
	"acp-agent/transcript"
)

// price returns what a model call costs in US dollars, by the model's name: by the prices
// of the configuration, else by those of the model catalogue at the provider's own
// address. Of other models it is not known, which is 0.
func (c *core) price(cfg *config.Config) func(name string, u transcript.Usage) float64 {
	servers, section := c.modelServers(cfg)
	byName := map[string]configuredServer{}
	var all []router.Server
	for _, s := range servers {
		s.Missing = "" // what was spent there once has its price
		byName[s.Name] = s
		all = append(all, s.Server)
	}
	names := router.New(all, section)
	alone := len(servers) == 1 && section != ""
	return func(name string, u transcript.Usage) float64 {
		server, id := section, name
		if !alone {
			var err error
			if server, id, err = names.Split(name); err != nil {
				return 0
			}
		}
		s := byName[server]
		if p, set := s.prices[id]; set {
			return cost(p, u)
		}
		if s.baseURL != s.known.BaseURL {
			return 0 // another server has other prices
		}
		entry, _ := catalogue.Find(s.catalogue, id)
		p, known := entry.PriceOf(u.Input + u.CacheRead + u.CacheWrite)
		if !known {
			return 0
		}
		return cost(config.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}, u)
	}
}

// cost is what a model call cost. Prices are for a million tokens; a price of cached input
// that is 0 is that of input.
func cost(p config.Price, u transcript.Usage) float64 {
	const million = 1e6
	in := float64(u.Input)*p.Input + float64(u.CacheRead)*cmp.Or(p.CacheRead, p.Input) + float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input)
	return (in + float64(u.Output+u.Reasoning)*p.Output) / million
}
