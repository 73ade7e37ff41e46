package config

import (
	"log/slog"
	"strings"
)

// The variables of the environment that count.
const (
	// EnvAPIKey wins over model.api_key, unless model.api_key_env names another.
	EnvAPIKey = "OPENAI_API_KEY"
	// EnvBaseURL wins over model.base_url.
	EnvBaseURL = "OPENAI_BASE_URL"
	// EnvModel wins over model.name.
	EnvModel = "OPENAI_MODEL"
	// EnvConfig is the path of the user's file, in place of the usual one.
	EnvConfig = "ACP_AGENT_CONFIG"
	// EnvLog wins over log.level.
	EnvLog = "ACP_AGENT_LOG"
)

// getenv returns a variable without the blanks around it, which come with values that
// are pasted or read from a file and are never meant.
func (s Sources) getenv(name string) string {
	if s.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(s.Getenv(name))
}

func (s Sources) loadEnv(cfg *Config) error {
	if name := s.getenv(cfg.Model.ModelVariable()); name != "" {
		cfg.Model.Name = name
	}
	variable := cfg.Model.BaseURLVariable()
	if text := s.getenv(variable); text != "" {
		url, problem := BaseURL(text)
		if problem != "" {
			return &Error{File: variable, Problem: problem}
		}
		cfg.Model.BaseURL, cfg.Model.Origin.Server = url, variable
	}
	if cfg.Model.APIKeyEnv != "" {
		if key := NewSecret(s.getenv(cfg.Model.APIKeyEnv)); !key.IsZero() {
			cfg.Model.APIKey, cfg.Model.Origin.Key = key, cfg.Model.APIKeyEnv
		}
	}
	s.loadProviderKeys(cfg.Providers)
	s.loadKeys(cfg)
	cfg.Toolbox.Env = s.expand(cfg.Toolbox.Env)
	s.loadExternal(&cfg.External)
	level, err := s.LogLevel()
	if err != nil {
		return err
	}
	if level != "" {
		cfg.Log.Level = level
	}
	return nil
}

// LogLevel returns the level that the environment sets, or "". It reads no file, so the
// log can be opened before the first Load.
func (s Sources) LogLevel() (string, error) {
	level := strings.ToLower(s.getenv(EnvLog))
	if level == "" {
		return "", nil
	}
	if problem := oneOf(level, logLevels()...); problem != "" {
		return "", &Error{File: EnvLog, Problem: problem}
	}
	return level, nil
}

func logLevels() []string {
	var names []string
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		names = append(names, strings.ToLower(l.String()))
	}
	return names
}
