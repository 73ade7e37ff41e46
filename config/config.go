package config

import "log/slog"

// Config is everything that was set, decoded and checked. It is not changed after Load.
type Config struct {
	Model  Model  `json:"model"`
	Editor Editor `json:"editor"`
	Limits Limits `json:"limits"`
	Roots  Roots  `json:"roots"`
	Rules  Rules  `json:"rules"`
	Tools  Tools  `json:"tools"`
	Search Search `json:"search"`
	// Mode is the mode of a new session: ModeAsk or ModeCode.
	Mode string `json:"mode"`
	Log  Log    `json:"log"`

	// Project holds the rules of the project's file; it never has an Allow.
	Project Rules `json:"-"`
	// Files lists the files that were found and read, the user's first.
	Files []string `json:"-"`
}

// Editor says which services of the editor may be used when it offers them.
type Editor struct {
	// FS reads and writes through the editor, so that unsaved buffers count.
	FS bool `json:"fs"`
}

// Roots are directories outside the workspace that tools may reach (C-29). All are
// absolute; whether they exist is not checked here.
type Roots struct {
	// Read holds the user's directories, followed by the package caches of
	// [Sources.PackageCaches].
	Read []string `json:"read"`
	// Write may also be read.
	Write []string `json:"write"`
}

// Tools says which tools are offered to the model.
type Tools struct {
	// Disable lists tool ids that are left out, the user's and the project's.
	Disable []string `json:"disable"`
}

// Search configures glob and grep.
type Search struct {
	// Ripgrep is the absolute path of a ripgrep to use; empty means the built-in search.
	Ripgrep string `json:"ripgrep"`
}

// The modes of a session.
const (
	ModeAsk  = "ask"  // every change of a file is asked
	ModeCode = "code" // changes of files in the workspace are allowed
)

// Log configures the log, which goes to stderr and to a file.
type Log struct {
	// Level is "debug", "info", "warn" or "error".
	Level string `json:"level"`
	// File is an absolute path; empty means the default place.
	File string `json:"file"`
}

// Slog returns the level in the form of log/slog; a level that is not one of the four
// counts as "warn".
func (l Log) Slog() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelWarn
	}
	return level
}

// Default returns the settings that hold when nothing is set.
func Default() *Config {
	return &Config{
		Model:  Model{BaseURL: DefaultBaseURL, APIKeyEnv: EnvAPIKey},
		Editor: Editor{FS: true},
		Limits: defaultLimits(),
		Mode:   ModeAsk,
		Log:    Log{Level: "warn"},
	}
}

// Secrets returns every secret value of the configuration, for the redactors of output
// and the sweep of child environments (D3, X1).
func (c *Config) Secrets() []string {
	var values []string
	if !c.Model.APIKey.IsZero() {
		values = append(values, c.Model.APIKey.Reveal())
	}
	for _, name := range sortedKeys(c.Model.Headers) {
		if h := c.Model.Headers[name]; !h.IsZero() {
			values = append(values, h.Reveal())
		}
	}
	return values
}
