package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"acp-agent/config"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/script"
	"acp-agent/model/textcalls"
	"acp-agent/session"
	"acp-agent/subagent"
)

// Backend returns the model server in force. It is made outside the lock, for
// a server may have to be asked for its models.
func (c *core) Backend() (session.Backend, error) {
	c.mu.Lock()
	now := c.state
	c.mu.Unlock()
	if now.backend != nil {
		return *now.backend, nil
	}
	made, err := c.resolve(now)
	if err != nil {
		return session.Backend{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.generation == now.generation {
		if c.state.backend != nil {
			return *c.state.backend, nil // another was faster
		}
		c.state = made
	}
	return *made.backend, nil
}

// resolve loads the configuration and connects to its server.
func (c *core) resolve(s state) (state, error) {
	if s.loggedOut {
		return s, &session.AuthError{Message: "logged out; call authenticate to go on"}
	}
	sources := c.sources
	if !s.key.IsZero() {
		sources.LoginFile = "" // a key that the client gave goes to no server that it did not mean
	}
	cfg, err := c.loadFrom(sources, "")
	if err != nil {
		return s, err
	}
	backend, err := c.connect(cfg, s.key)
	if err != nil {
		return s, err
	}
	s.secrets, s.backend = cfg.Secrets(), &backend
	return s, nil
}

func (c *core) connect(cfg *config.Config, given config.Secret) (session.Backend, error) {
	scripted, err := c.script()
	if err != nil {
		return session.Backend{}, err
	}
	if scripted != nil {
		return session.Backend{
			Provider: discreet{textcalls.New(scripted, textcalls.Mode(cfg.Model.TextCalls)), &c.keys}, Model: cmp.Or(cfg.Model.Name, script.DefaultModel), ThoughtLevel: cfg.Model.ThoughtLevel,
			NoticeAfter: cfg.Model.NoticeAfter.Duration,
		}, nil
	}
	if err := c.loadLoginKey(context.Background(), cfg); err != nil {
		return session.Backend{}, err
	}
	key, name, origin := cfg.Model.APIKey, cfg.Model.Name, cfg.Model.Origin.Key
	if !given.IsZero() {
		key, origin = given, "the editor"
	}
	if cfg.Model.BaseURL == config.DefaultBaseURL {
		if key.IsZero() {
			return session.Backend{}, &session.AuthError{
				Message: "no model server is configured: run acp-agent login, or set " + cmp.Or(cfg.Model.APIKeyEnv, "model.api_key") +
					", or " + config.EnvBaseURL + " for a server of your own",
			}
		}
		name = cmp.Or(name, defaultModel)
	}
	provider, err := openai.New(openai.Options{
		BaseURL: cfg.Model.BaseURL, APIKey: key.Reveal(), Headers: reveal(cfg.Model.Headers),
		ExtraBody: extraBody(cfg.Model.ExtraBody), Window: windows(cfg.Model, name), Images: images(cfg.Model, name),
		IdleTimeout: cfg.Model.IdleTimeout.Duration, StartTimeout: cfg.Model.StartTimeout.Duration,
		ContentTimeout: cfg.Model.ContentTimeout.Duration, KeepAliveTimeout: cfg.Model.KeepAliveTimeout.Duration,
		Version: version, Logger: c.logger.Logger, Clean: c.keys.Known,
	})
	if err == nil && name == "" {
		name, err = firstModel(provider)
	}
	if err != nil {
		return session.Backend{}, err
	}
	return session.Backend{
		Provider: discreet{textcalls.New(provider, textcalls.Mode(cfg.Model.TextCalls)), &c.keys}, Model: name, ThoughtLevel: cfg.Model.ThoughtLevel,
		Temperature: cfg.Model.Temperature, MaxTokens: cfg.Model.MaxOutput, NoticeAfter: cfg.Model.NoticeAfter.Duration,
		Server: serverWithKey(cfg.Model.BaseURL, origin),
	}, nil
}

// serverWithKey says in words which server is asked, and where its key was named.
func serverWithKey(baseURL, origin string) string {
	host := "an address that cannot be read"
	if u, err := url.Parse(baseURL); err == nil {
		host = u.Host
	}
	if origin == "" {
		return host + ", without a key"
	}
	return host + ", with a key from " + origin
}

// firstModel picks a model of a server for which none was named.
func firstModel(provider model.Provider) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), firstModelTimeout)
	defer cancel()
	infos, err := provider.Models(ctx)
	if err == nil && len(infos) == 0 {
		err = errors.New("it offers no model")
	}
	if err != nil {
		return "", fmt.Errorf("no model is named, and the server's list could not be used: %w; set %s", err, config.EnvModel)
	}
	return infos[0].ID, nil
}

// script returns the scripted model, when there is one.
func (c *core) script() (model.Provider, error) {
	path := c.getenv(envScript)
	if c.scripted != nil || path == "" {
		return c.scripted, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envScript, err)
	}
	defer file.Close()
	loaded, err := script.Load(path, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envScript, err)
	}
	return loaded.Provider(script.Options{Cwd: cwdOf, Exists: exists}), nil
}

// cwdOf tells a scripted model which directory its session works in.
func cwdOf(req *model.Request) string { return subagent.CwdOf(req.System) }

// exists tells a scripted model whether there is a file that a step waits for.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Authenticate takes a key for this process, or reads environment and
// configuration again. It succeeds when a session could be opened now; when it
// fails, what was in force stays so.
func (c *core) Authenticate(_ context.Context, key string) error {
	c.mu.Lock()
	next := state{generation: c.state.generation + 1, key: c.state.key}
	c.mu.Unlock()
	if key != "" {
		next.key = config.NewSecret(key)
		c.logger.hide(key)
		c.keep(key)
	}
	made, err := c.resolve(next)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = made
	return nil
}

// Logout forgets the key; sessions ask for authentication from now on.
func (c *core) Logout() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state{generation: c.state.generation + 1, loggedOut: true, secrets: c.state.secrets}
}

// secrets are the values that must never reach a child.
func (c *core) secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := slices.Clone(c.state.secrets)
	if !c.state.key.IsZero() {
		values = append(values, c.state.key.Reveal())
	}
	return values
}
