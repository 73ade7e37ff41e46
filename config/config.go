package config

import (
	"log/slog"
	"slices"
)

// Config is everything that was set, decoded and checked. It is not changed after Load.
type Config struct {
	Model Model `json:"model"`
	// Providers are further model servers by name.
	Providers map[string]Provider `json:"providers"`

	Editor Editor `json:"editor"`
	Limits Limits `json:"limits"`
	Roots  Roots  `json:"roots"`
	Rules  Rules  `json:"rules"`
	Tools  Tools  `json:"tools"`
	// Toolbox are scripts of the user's that are tools.
	Toolbox Toolbox `json:"toolbox"`
	// External are providers of tools outside the agent.
	External External `json:"external"`
	Search   Search   `json:"search"`
	Web      Web      `json:"web"`
	// Sandbox says how commands are confined.
	Sandbox Sandbox `json:"sandbox"`
	// Network says how they reach hosts.
	Network Network `json:"network"`
	// Environment names variables that commands get although the sweep of their environment
	// would take them out (X1). Only the user sets it (T3).
	Environment []string `json:"environment"`
	// SecretFiles adds to the names of files that are never read.
	SecretFiles SecretFiles `json:"secrets"`
	Skills      Skills      `json:"skills"`
	// Checks are the commands of the check tool.
	Checks []Check `json:"checks"`
	// Format gives the formatter of files by the end of their name, a program
	// that reads the text and writes it formatted; "{file}" is the file's path. An
	// empty list means none.
	Format map[string][]string `json:"format"`
	// LSP gives the language server of files by the end of their name.
	LSP map[string][]string `json:"lsp"`
	// MCP names the MCP servers of every session.
	MCP       MCP       `json:"mcp"`
	Subagents Subagents `json:"subagents"`
	// Agents are settings by the names of agents.
	Agents   map[string]Agent `json:"agents"`
	Watchdog Watchdog         `json:"watchdog"`
	Audit    Audit            `json:"audit"`
	Sessions Sessions         `json:"sessions"`
	// Agent names the agent that new sessions talk to; empty means the shipped one.
	Agent string `json:"agent"`
	// Mode is the mode of a new session: ModeAsk, ModeCode, ModePlan or ModeAuto.
	Mode string `json:"mode"`
	Log  Log    `json:"log"`

	// Project holds the rules of the project's file; it never has an Allow.
	Project Rules `json:"-"`
	// Offered is what the project's file would allow. It counts only in a project that
	// the user trusts, with the very content that it had then (T1, T4).
	Offered []Rule `json:"-"`
	// OfferedServers are the MCP servers of the project's file, under the same terms.
	OfferedServers map[string]MCPServer `json:"-"`
	// Files lists the files that were found and read, the user's first.
	Files []string `json:"-"`
}

// Editor says which services of the editor may be used when it offers them.
type Editor struct {
	// FS reads and writes through the editor, so that unsaved buffers count.
	FS bool `json:"fs"`
}

// Roots are directories outside the workspace that tools may reach. All are
// absolute; whether they exist is not checked here.
type Roots struct {
	// Read holds the user's directories, followed by the package caches of
	// [Sources.PackageCaches].
	Read []string `json:"read"`
	// Write may also be read.
	Write []string `json:"write"`
}

// SecretFiles are names of files that hold secrets, besides the known ones (P8).
type SecretFiles struct {
	// Names are patterns such as "*.vault" or "deploy/prod.yml", which count below any
	// directory. Those of a project's file are added.
	Names []string `json:"names"`
}

// The modes of a session.
const (
	ModeAsk  = "ask"  // every change of a file is asked
	ModeCode = "code" // changes of files in the workspace are allowed
	ModePlan = "plan" // nothing is changed
	ModeAuto = "auto" // what a sandbox confines is allowed; ask where there is none
)

// Log configures the log, which goes to a file, and faults to stderr as well.
type Log struct {
	// Level of the file is "debug", "info", "warn" or "error". ACP_AGENT_LOG sets it for
	// the file and for stderr.
	Level string `json:"level"`
	// File is an absolute path; empty means the default place.
	File string `json:"file"`
	// Trace writes a record for each turn, model call, tool call and decision: when
	// it began and how long it took, without contents (R132).
	Trace bool `json:"trace"`
}

// Slog returns the level in the form of log/slog; a level that is not one of the four
// counts as "info".
func (l Log) Slog() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// Default returns the settings that hold when nothing is set.
func Default() *Config {
	return &Config{
		Model:     Model{BaseURL: DefaultBaseURL, APIKeyEnv: EnvAPIKey},
		Editor:    Editor{FS: true},
		Limits:    defaultLimits(),
		Tools:     Tools{Search: defaultToolSearch()},
		Sandbox:   Sandbox{Level: SandboxAuto},
		Network:   defaultNetwork(),
		Mode:      ModeAsk,
		Log:       Log{Level: "info"},
		Subagents: defaultSubagents(),
		Audit:     defaultAudit(),
		Sessions:  defaultSessions(),
	}
}

// Keys returns the secret values that are keys: all of them but headers whose names do
// not say so, which may hold ordinary words. What stands behind the scheme of a header's
// value is one too.
func (c *Config) Keys() []string {
	keys := serverKeys(c.Model.APIKey, c.Model.Headers)
	for _, name := range sortedKeys(c.Providers) {
		keys = append(keys, c.Providers[name].keys()...)
	}
	for _, p := range c.Search.Providers {
		if !p.APIKey.IsZero() {
			keys = append(keys, p.APIKey.Reveal())
		}
	}
	for _, s := range c.MCP.Servers {
		keys = append(keys, s.keys()...)
	}
	return slices.Concat(keys, c.Toolbox.Env.keys(), c.External.keys())
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
	for _, name := range sortedKeys(c.Providers) {
		values = append(values, c.Providers[name].secrets()...)
	}
	for _, p := range c.Search.Providers {
		if !p.APIKey.IsZero() {
			values = append(values, p.APIKey.Reveal())
		}
	}
	for _, name := range sortedKeys(c.MCP.Servers) {
		values = append(values, c.MCP.Servers[name].keys()...)
	}
	return slices.Concat(values, c.Toolbox.Env.keys(), c.External.keys())
}
