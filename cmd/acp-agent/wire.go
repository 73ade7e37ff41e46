package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/internal/launch"
	"acp-agent/internal/shell"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/model/openai"
	"acp-agent/model/script"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// envScript names a model script that answers instead of a server: for tests
// and for trying things out without a model.
const envScript = "ACP_AGENT_MODEL_SCRIPT"

// defaultModel is asked of the hosted server when no model was named.
const defaultModel = "gpt-5"

// core is the agent put together: everything that does not depend on how a
// person reaches it. What it needs of the disk is read when a session first
// asks for it, never before.
type core struct {
	sources config.Sources
	getenv  func(string) string
	logger  *slog.Logger
	// scripted, when set, answers instead of a server.
	scripted model.Provider

	assemble func() (*session.Host, error)

	mu    sync.Mutex
	state state
	host  *session.Host // once it is assembled
}

// state is what authenticate and logout change; it is replaced as a whole.
type state struct {
	generation int
	key        config.Secret // given by the client for this process
	loggedOut  bool
	secrets    []string // of the configuration in force
	backend    *session.Backend
}

// newCore returns the agent over the process's own environment.
func newCore(logger *slog.Logger) *core {
	c := &core{
		getenv: os.Getenv, logger: logger,
		sources: config.System(),
	}
	c.assemble = sync.OnceValues(c.newHost)
	return c
}

// newLogger writes to stderr, at the level of ACP_AGENT_LOG or warn.
func newLogger(stderr io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if text := os.Getenv(config.EnvLog); text != "" {
		_ = level.UnmarshalText([]byte(text)) // a misspelt level is reported by config, at the first session
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}

// firstModelTimeout bounds the wait for a server's list when no model is named.
const firstModelTimeout = 5 * time.Second

// Warm prepares what the first session needs, so that it does not wait.
func (c *core) Warm() { _, _ = c.assemble() }

// Open opens a session (session/new).
func (c *core) Open(ctx context.Context, spec session.Spec) (*session.Session, error) {
	host, err := c.assemble()
	if err != nil {
		return nil, err
	}
	return host.Open(ctx, spec)
}

func (c *core) newHost() (*session.Host, error) {
	registry, err := tools.NewRegistry(builtin.Options{Ripgrep: c.ripgrep()}.All()...)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own binary: %w", err)
	}
	shellName, dialect := findShell(c.getenv("PATH"))
	host := &session.Host{
		Backend: c.Backend, Registry: registry, Manifest: subagent.Main(), Configure: c.settings,
		Own: c.own(), StateDir: stateDir(), Home: c.sources.HomeDir,
		Launcher: &launch.Launcher{Self: self}, Shell: shellName, Dialect: dialect, Environ: os.Environ(), Secrets: c.secrets,
		IDs: &transcript.IDs{}, Logger: c.logger,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = host
	return host, nil
}

// ripgrep is the path of the ripgrep to search with, read once; "" means none.
// A configuration that cannot be read is reported when a session is opened.
func (c *core) ripgrep() string {
	cfg, err := config.Load(c.sources, "")
	if err != nil {
		return ""
	}
	return cfg.Search.Ripgrep
}

func stateDir() string { return filepath.Join(xdg.StateHome, "acp-agent", "sessions") }

// own are the directories that no tool may write: configuration, data, state.
func (c *core) own() []string {
	return []string{
		filepath.Join(xdg.ConfigHome, "acp-agent"), filepath.Join(xdg.DataHome, "acp-agent"),
		filepath.Join(xdg.StateHome, "acp-agent"), filepath.Dir(c.sources.UserFile()),
	}
}

// findShell names the shell that commands will run under and its language. A
// machine without one says so when a command is run.
func findShell(path string) (name string, dialect shell.Dialect) {
	found, err := launch.FindShell(path, nil)
	if err != nil {
		return "", shell.POSIX
	}
	dialect = shell.POSIX
	if found.Bash {
		dialect = shell.Bash
	}
	return filepath.Base(found.Path), dialect
}

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
	cfg, err := config.Load(c.sources, "")
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
			Provider: scripted, Model: cmp.Or(cfg.Model.Name, script.DefaultModel), ThoughtLevel: cfg.Model.ThoughtLevel,
		}, nil
	}
	key, name := cfg.Model.APIKey, cfg.Model.Name
	if !given.IsZero() {
		key = given
	}
	if cfg.Model.BaseURL == config.DefaultBaseURL {
		if key.IsZero() {
			return session.Backend{}, &session.AuthError{
				Message: "no model server is configured: set " + cmp.Or(cfg.Model.APIKeyEnv, "model.api_key") +
					", or " + config.EnvBaseURL + " for a server of your own",
			}
		}
		name = cmp.Or(name, defaultModel)
	}
	provider, err := openai.New(openai.Options{
		BaseURL: cfg.Model.BaseURL, APIKey: key.Reveal(), Headers: reveal(cfg.Model.Headers),
		ExtraBody: extraBody(cfg.Model.ExtraBody), Window: windows(cfg.Model, name), Images: images(cfg.Model, name),
		Version: version, Logger: c.logger,
	})
	if err == nil && name == "" {
		name, err = firstModel(provider)
	}
	if err != nil {
		return session.Backend{}, err
	}
	return session.Backend{
		Provider: provider, Model: name, ThoughtLevel: cfg.Model.ThoughtLevel,
		Temperature: cfg.Model.Temperature, MaxTokens: cfg.Model.MaxOutput,
	}, nil
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
	return loaded.Provider(script.Options{Cwd: cwdOf}), nil
}

// cwdOf tells a scripted model which directory its session works in.
func cwdOf(req *model.Request) string { return subagent.CwdOf(req.System) }

// Authenticate takes a key for this process, or reads environment and
// configuration again. It succeeds when a session could be opened now; when it
// fails, what was in force stays so.
func (c *core) Authenticate(_ context.Context, key string) error {
	c.mu.Lock()
	next := state{generation: c.state.generation + 1, key: c.state.key}
	c.mu.Unlock()
	if key != "" {
		next.key = config.NewSecret(key)
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

// Close ends what runs behind the scenes; sessions are closed before.
func (c *core) Close() {
	c.mu.Lock()
	host := c.host
	c.mu.Unlock()
	if host != nil {
		host.Close()
	}
}

// settings are what the person, and the project in a directory, configured.
func (c *core) settings(cwd string) (session.Settings, error) {
	cfg, err := config.Load(c.sources, cwd)
	if err == nil {
		err = cfg.CheckNames(knownPermission, knownTool)
	}
	if err != nil {
		return session.Settings{}, err
	}
	return session.Settings{
		User: permissionRules(cfg.Rules), Project: permissionRules(cfg.Project), Mode: permissions.Mode(cfg.Mode),
		Limits: limits(cfg.Limits), MaxSteps: cfg.Limits.MaxSteps, Disabled: disabled(cfg.Tools.Disable),
		ReadRoots: cfg.Roots.Read, WriteRoots: cfg.Roots.Write, Editor: cfg.Editor.FS,
	}, nil
}

// knownTool reports whether a name in tools.disable can mean a tool.
func knownTool(name string) bool {
	return name == "*" || name == "mcp:*" || slices.Contains(kinds.Known(), name) || foreign(name)
}

// knownPermission reports whether a rule's name can mean something.
func knownPermission(name string) bool {
	capabilities := []string{capability.CapFSRead, capability.CapFSWrite, capability.CapShellRun, capability.CapNetFetch}
	return knownTool(name) || slices.Contains(capabilities, name) || strings.Contains(name, "*")
}

// foreign reports the name of a tool from elsewhere.
func foreign(name string) bool {
	return strings.HasPrefix(name, "mcp:") || strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "tb__")
}

func permissionRules(from config.Rules) []permissions.Rule {
	var rules []permissions.Rule
	add := func(list []config.Rule, action capability.Action) {
		for _, r := range list {
			rules = append(rules, permissions.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: action, Source: r.Source})
		}
	}
	add(from.Allow, capability.Allow)
	add(from.Ask, capability.Ask)
	add(from.Deny, capability.Deny)
	return rules
}

// disabled says which tools are off, in the words of R9.
func disabled(names []string) func(tool string) (string, bool) {
	off := map[string]bool{}
	for _, name := range names {
		off[name] = true
	}
	return func(tool string) (string, bool) {
		switch {
		case off["*"]:
			return "All tools disabled", true
		case off[tool]:
			return "Tool explicitly disabled", true
		case off["mcp:*"] && strings.HasPrefix(tool, "mcp__"):
			return "MCP tools disabled", true
		}
		return "", false
	}
}

func limits(from config.Limits) tools.Limits {
	l := tools.CanonicalLimits()
	if from.Profile == config.ProfileAmp {
		l = tools.AmpLimits()
	}
	l.BashTimeout = from.BashTimeout.Duration
	if from.ToolTimeout.Duration > 0 {
		l.Timeout = from.ToolTimeout.Duration
	}
	if from.Concurrent > 0 {
		l.Concurrent = from.Concurrent
	}
	l.SidecarBytes = from.SidecarBytes
	return l
}

func reveal(headers map[string]config.Secret) map[string]string {
	plain := make(map[string]string, len(headers))
	for name, value := range headers {
		plain[name] = value.Reveal()
	}
	return plain
}

func extraBody(from map[string]json.RawMessage) map[string]any {
	body := make(map[string]any, len(from))
	for name, value := range from {
		body[name] = value
	}
	return body
}

// windows are the configured context windows by model; model.window counts for
// the configured model.
func windows(from config.Model, name string) map[string]int {
	known := maps.Clone(from.Windows)
	if known == nil {
		known = map[string]int{}
	}
	if _, set := known[name]; !set && from.Window > 0 {
		known[name] = from.Window
	}
	return known
}

func images(from config.Model, name string) map[string]bool {
	if from.Images == nil {
		return nil
	}
	return map[string]bool{name: *from.Images}
}
