package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"acp-agent/config"
	"acp-agent/internal/login"
	"acp-agent/internal/tokens"
	"acp-agent/session"
)

// tokenStore keeps the tokens of MCP servers and the key of the login.
func (c *core) tokenStore(cfg *config.Config) *tokens.Store {
	return tokens.New(c.dataDir, tokens.Place(cfg.MCP.Tokens))
}

// loginStore keeps what a login stored.
func (c *core) loginStore(cfg *config.Config) login.Store {
	return login.Store{Path: c.sources.LoginFile, Tokens: c.tokenStore(cfg)}
}

// loginStoreNow is loginStore by the user's configuration. That may be broken for another
// reason, which must not keep a key from being stored or forgotten.
func (c *core) loginStoreNow() login.Store {
	sources := c.sources
	sources.LoginFile = ""
	cfg, err := config.Load(sources, "")
	if err != nil {
		cfg = config.Default()
	}
	return c.loginStore(cfg)
}

// loadLoginKey fills in the key that the login stored, where it is the one in force.
func (c *core) loadLoginKey(ctx context.Context, cfg *config.Config) error {
	if cfg.Model.Origin.Key != config.FromLogin {
		return nil
	}
	key, err := c.loginKey(ctx, cfg)
	switch {
	case errors.Is(err, login.ErrNoKey):
		return &session.AuthError{Message: "the key that acp-agent login stored is gone; run acp-agent login again"}
	case err != nil:
		return &session.AuthError{Message: "the key that acp-agent login stored cannot be read: " + err.Error()}
	}
	c.redactSecrets(key)
	cfg.Model.APIKey = config.NewSecret(key)
	return nil
}

// storeLogin stores a login in place of the one before.
func (c *core) storeLogin(ctx context.Context, chosen config.Login, key string) error {
	chosen.Key = key != ""
	data, err := json.Marshal(chosen)
	if err == nil {
		err = c.loginStoreNow().Save(ctx, chosen.BaseURL, data, key)
	}
	if err != nil {
		return fmt.Errorf("store the login: %w", err)
	}
	return nil
}

// Forget forgets what a login stored.
func (c *core) Forget(ctx context.Context) error {
	if c.tape.Plays() {
		return nil
	}
	if _, _, err := c.loginStoreNow().Forget(ctx); err != nil {
		return fmt.Errorf("forget the login: %w", err)
	}
	return nil
}

// keyPlace says in words where the key of an address is stored, and whether it is.
func keyPlace(store login.Store, baseURL string) (place string, kept bool) {
	switch at, kept := store.Where(baseURL); {
	case !kept:
		return "but it is gone", false
	case at == tokens.Keyring:
		return "in the system's keyring", true
	}
	return "in a private file", true
}
