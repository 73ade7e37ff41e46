package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"acp-agent/config"
	"acp-agent/internal/pause"
	"acp-agent/model"
	"acp-agent/model/anthropic"
	"acp-agent/model/openai"
	"acp-agent/model/preset"
	"acp-agent/model/responses"
	"acp-agent/model/router"
)

// sectionName is what the server of the model section is called beside providers, when no
// preset has its address or a provider has the preset's name.
const sectionName = "default"

// configuredServer is a model server of the configuration, with how it is reached.
type configuredServer struct {
	router.Server
	// known is its preset, catalogue its name in the model catalogue, which is that of its
	// preset while the address is the preset's own.
	known     preset.Preset
	catalogue string
	baseURL   string
	keyOrigin string
	prices    map[string]config.Price
	// model is the model of new sessions there; empty means that its list decides.
	model string
}

// words name the server and the source of its key, but never the key.
func (s configuredServer) words() string {
	return s.Name + " (" + serverWithKey(s.baseURL, s.keyOrigin) + ")"
}

// modelServers are the server of the model section and the providers, as far as they are
// set. The name of the first is that of the model section; empty when that names none.
func (c *core) modelServers(cfg *config.Config) (servers []configuredServer, section string) {
	if cfg.ModelSection() {
		s := c.sectionServer(cfg)
		servers, section = append(servers, s), s.Name
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		servers = append(servers, c.providerServer(name, cfg.Providers[name]))
	}
	return servers, section
}

// sectionServer is the server of the model section.
func (c *core) sectionServer(cfg *config.Config) configuredServer {
	m := cfg.Model
	known, found := preset.At(m.BaseURL)
	name := known.Name
	if _, taken := cfg.Providers[name]; !found || taken {
		name = sectionName
	}
	s := configuredServer{
		known: known, catalogue: known.Name, baseURL: m.BaseURL, keyOrigin: m.Origin.Key, prices: m.Prices,
		model: m.Name,
		Server: router.Server{
			Name: name, Title: cmp.Or(known.Title, hostOf(m.BaseURL)), Discover: true, Owners: !found || known.Owners,
		},
	}
	if m.Hosted() {
		s.model = cmp.Or(s.model, hostedModel(m))
		if m.APIKey.IsZero() && len(m.Headers) == 0 {
			s.Missing = "it needs a key: set " + cmp.Or(m.APIKeyEnv, "model.api_key")
		}
	}
	s.Open = func() (model.Provider, error) {
		options := c.options(known, s.catalogue)
		options.BaseURL, options.APIKey, options.Headers = m.BaseURL, m.APIKey.Reveal(), headers(known, m.Headers)
		options.ExtraBody, options.Window, options.Images = extraBody(m.ExtraBody), windows(m, s.model), images(m, s.model)
		options.IdleTimeout, options.StartTimeout = m.IdleTimeout.Duration, m.StartTimeout.Duration
		options.ContentTimeout, options.KeepAliveTimeout = m.ContentTimeout.Duration, m.KeepAliveTimeout.Duration
		return openModelServer(m.API, known, options)
	}
	return s
}

// providerServer is the server of a provider.
func (c *core) providerServer(name string, p config.Provider) configuredServer {
	s := configuredServer{
		known: p.Known, catalogue: p.Known.Name, baseURL: p.BaseURL, keyOrigin: p.KeyOrigin, prices: p.Prices,
		Server: router.Server{
			Name: name, Title: cmp.Or(p.Known.Title, name), Missing: p.Missing(), Models: p.Models, Discover: p.Discovers(),
			Owners: p.Known.Owners || p.Known.Name == "",
		},
	}
	if s.known.Name != name && s.known.Title != "" {
		s.Title = name
	}
	if len(p.Models) > 0 {
		s.model = p.Models[0]
	} else {
		s.model = p.Known.Model
	}
	s.Open = func() (model.Provider, error) {
		options := c.options(p.Known, s.catalogue)
		options.BaseURL, options.APIKey, options.Headers = p.BaseURL, p.APIKey.Reveal(), headers(p.Known, p.Headers)
		options.ExtraBody, options.Window, options.Images = extraBody(p.ExtraBody), p.Windows, p.Images
		options.DefaultWindow, options.Thinking = p.Window, openai.Thinking(p.Thinking)
		options.IdleTimeout, options.StartTimeout = p.IdleTimeout.Duration, p.StartTimeout.Duration
		return openModelServer(p.API, p.Known, options)
	}
	return s
}

// options are what a preset says of a server.
func (c *core) options(known preset.Preset, catalogue string) openai.Options {
	return openai.Options{
		Transport: c.transport(),
		Catalogue: catalogue, Thinking: openai.Thinking(known.Thinking), Levels: known.Levels, CacheControl: known.CacheControl,
		ListedOnly: known.ListedOnly,
		Version:    version, Logger: c.logger.Logger, Clean: c.keys.Known,
	}
}

// openModelServer makes the provider for the API that a server speaks; it does not touch the
// network. Empty means that of the preset; which of OpenAI's two APIs a model is asked in is
// then its preset's to say, and in any case its server's.
func openModelServer(api string, known preset.Preset, o openai.Options) (model.Provider, error) {
	families := known.Responses
	if api == "" {
		api = cmp.Or(known.API, preset.Chat)
	} else {
		families = nil
	}
	if api == preset.Anthropic {
		return anthropic.New(anthropic.Options{
			BaseURL: o.BaseURL, APIKey: o.APIKey, Headers: o.Headers, ExtraBody: o.ExtraBody, Window: o.Window, Images: o.Images,
			IdleTimeout: o.IdleTimeout, StartTimeout: o.StartTimeout, ContentTimeout: o.ContentTimeout, KeepAliveTimeout: o.KeepAliveTimeout,
			Version: o.Version, Logger: o.Logger, Clean: o.Clean, Transport: o.Transport,
		})
	}
	chat, err := openai.New(o)
	if err != nil {
		return nil, err
	}
	if api == preset.Responses {
		return responses.New(chat)
	}
	return responses.NewChoice(chat, families)
}

// headers are those of a preset and the configured ones, which win.
func headers(known preset.Preset, own map[string]config.Secret) map[string]string {
	all := maps.Clone(known.Headers)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, plainHeaders(own))
	return all
}

func hostOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return sectionName
	}
	return u.Host
}

// errNoServer says that none of the providers can be used.
func errNoServer(servers []configuredServer) error {
	var lacks []string
	for _, s := range servers {
		lacks = append(lacks, s.Name+": "+s.Missing)
	}
	return errors.New("no provider can be used: " + strings.Join(lacks, "; "))
}

// route puts servers behind one provider, and returns the name of the model of new
// sessions there: the configured one, else that of the first server that can be used.
func route(cfg *config.Config, servers []configuredServer, section string) (*router.Router, string, error) {
	var all []router.Server
	for _, s := range servers {
		all = append(all, s.Server)
	}
	r := router.New(all, section)
	if name := cfg.Model.Name; name != "" {
		server, id, err := r.Split(name)
		if err != nil {
			return nil, "", fmt.Errorf("model.name: %w", err)
		}
		return r, server + "/" + id, nil
	}
	for _, s := range servers {
		if s.Missing != "" {
			continue
		}
		if s.model != "" {
			return r, s.Name + "/" + s.model, nil
		}
		provider, err := s.Open()
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", s.Name, err)
		}
		id, err := firstModel(provider, cfg.Model.ModelVariable())
		return r, s.Name + "/" + id, err
	}
	return nil, "", errNoServer(servers)
}

// firstModel picks a model of a server for which none was named.
func firstModel(provider model.Provider, variable string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstModelTimeout)
	defer cancel()
	infos, err := listedWhenLoaded(ctx, provider)
	if err == nil && len(infos) == 0 {
		err = errors.New("it offers no model")
	}
	switch {
	case err == nil:
		return infos[0].ID, nil
	case model.AsError(err).Busy:
		busy := *model.AsError(err)
		busy.Message = "no model is named, and the server cannot list its models yet: " + busy.Message
		busy.Hint = "try again when it is ready, or set " + variable
		return "", &busy
	}
	return "", fmt.Errorf("no model is named, and the server's list could not be used: %w; set %s", err, variable)
}

// listedWhenLoaded asks for a server's list, again and again while it says that it is busy:
// a llama.cpp server answers so until it has loaded its model.
func listedWhenLoaded(ctx context.Context, provider model.Provider) ([]model.Info, error) {
	for {
		infos, err := provider.Models(ctx)
		if err == nil || !model.AsError(err).Busy {
			return infos, err
		}
		if pause.For(ctx, time.Second) != nil {
			return nil, err
		}
	}
}
