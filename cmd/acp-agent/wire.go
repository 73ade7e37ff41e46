package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"acp-agent/config"
	"acp-agent/internal/launch"
	"acp-agent/internal/shell"
	"acp-agent/model"
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
	logger  *logger
	// stateDir holds the sessions' own directories and the log.
	stateDir string
	// scripted, when set, answers instead of a server.
	scripted model.Provider

	// assemble makes the host, once.
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
func newCore(stderr io.Writer) *core {
	c := &core{
		getenv: os.Getenv, logger: newLogger(stderr), sources: config.System(),
		stateDir: filepath.Join(xdg.StateHome, "acp-agent"),
	}
	c.assemble = sync.OnceValues(c.newHost)
	return c
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
		Own: c.own(), StateDir: filepath.Join(c.stateDir, "sessions"), Home: c.sources.HomeDir,
		Launcher: &launch.Launcher{Self: self}, Shell: shellName, Dialect: dialect, Environ: os.Environ(), Secrets: c.secrets,
		IDs: &transcript.IDs{}, Logger: c.logger.Logger,
	}
	host.Sweep()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = host
	return host, nil
}

// ripgrep is the path of the ripgrep to search with, read once; "" means none.
// A configuration that cannot be read is reported when a session is opened.
func (c *core) ripgrep() string {
	cfg, err := c.load("")
	if err != nil {
		return ""
	}
	return cfg.Search.Ripgrep
}

// load reads the configuration, with that of the project in a directory unless
// cwd is empty, and has the log heed it.
func (c *core) load(cwd string) (*config.Config, error) {
	cfg, err := config.Load(c.sources, cwd)
	if err == nil {
		c.logger.configure(cfg, c.stateDir)
	}
	return cfg, err
}

// own are the directories that no tool may write: configuration, data, state.
func (c *core) own() []string {
	return []string{
		filepath.Join(xdg.ConfigHome, "acp-agent"), filepath.Join(xdg.DataHome, "acp-agent"),
		c.stateDir, filepath.Dir(c.sources.UserFile()),
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

// Close ends what runs behind the scenes, and the log's file; sessions are
// closed before.
func (c *core) Close() {
	c.mu.Lock()
	host := c.host
	c.mu.Unlock()
	if host != nil {
		host.Close()
	}
	c.logger.close()
}
