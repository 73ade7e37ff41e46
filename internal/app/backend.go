package app

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"acp-agent/config"
	"acp-agent/model"
	"acp-agent/model/script"
	"acp-agent/model/textcalls"
	"acp-agent/session"
	"acp-agent/subagent"
)

// Backend returns the model server in force. It is made outside the lock, because making it may
// ask a server for its models.
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
			return *c.state.backend, nil // another caller has made one meanwhile
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
		sources.LoginFile = "" // the client's key must not go to the server of a stored login
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
	scripted, err := c.scriptedModel(cfg)
	if err != nil {
		return session.Backend{}, err
	}
	if scripted != nil {
		return session.Backend{
			Provider: redactedProvider{textcalls.New(scripted, textcalls.Mode(cfg.Model.TextCalls)), &c.keys}, Model: cmp.Or(cfg.Model.Name, script.DefaultModel), ThoughtLevel: cfg.Model.ThoughtLevel,
			NoticeAfter: cfg.Model.NoticeAfter.Duration,
		}, nil
	}
	if err := c.loadLoginKey(context.Background(), cfg); err != nil {
		return session.Backend{}, err
	}
	if !given.IsZero() {
		cfg.Model.APIKey, cfg.Model.Origin.Key = given, "the editor"
	}
	servers, section := c.modelServers(cfg)
	if len(servers) == 1 && section != "" {
		return c.connectOne(cfg, servers[0])
	}
	routed, name, err := route(cfg, servers, section)
	switch {
	case err == nil:
	case model.AsError(err).Busy: // another key would not help
		return session.Backend{}, err
	default:
		return session.Backend{}, &session.AuthError{Message: err.Error()}
	}
	backend := c.backend(cfg, routed, name)
	backend.Check = routed.Check
	var words []string
	for _, s := range servers {
		if s.Missing == "" {
			words = append(words, s.words())
		}
	}
	backend.Server = strings.Join(words, "; ")
	return backend, nil
}

// connectOne is connect for the server of the model section alone; its models have no
// provider in their names.
func (c *core) connectOne(cfg *config.Config, server configuredServer) (session.Backend, error) {
	if server.Missing != "" {
		return session.Backend{}, &session.AuthError{
			Message: "no model server is configured: run acp-agent login, or set " + cmp.Or(cfg.Model.APIKeyEnv, "model.api_key") +
				", or " + cfg.Model.BaseURLVariable() + " for a server of your own",
		}
	}
	provider, err := server.Open()
	name := server.model
	if err == nil && name == "" {
		name, err = firstModel(provider, cfg.Model.ModelVariable())
	}
	if err != nil {
		return session.Backend{}, err
	}
	backend := c.backend(cfg, provider, name)
	backend.Server = serverWithKey(cfg.Model.BaseURL, server.keyOrigin)
	return backend, nil
}

func (c *core) backend(cfg *config.Config, provider model.Provider, name string) session.Backend {
	return session.Backend{
		Provider: redactedProvider{textcalls.New(provider, textcalls.Mode(cfg.Model.TextCalls)), &c.keys}, Model: name, ThoughtLevel: cfg.Model.ThoughtLevel,
		Temperature: cfg.Model.Temperature, MaxTokens: cfg.Model.MaxOutput, NoticeAfter: cfg.Model.NoticeAfter.Duration,
	}
}

// serverWithKey says in words which server is asked, and which setting has its key.
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

// script returns the scripted model, when there is one. Its window is the configured one.
func (c *core) script(cfg *config.Config) (model.Provider, error) {
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
	return loaded.Provider(script.Options{Cwd: cwdOf, Exists: exists, Window: cfg.Model.Window}), nil
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
		c.logger.redactValues(key)
		c.redactKeys(key)
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
