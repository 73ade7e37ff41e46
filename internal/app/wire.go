package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"acp-agent/config"
	"acp-agent/internal/cgroup"
	"acp-agent/internal/launch"
	"acp-agent/internal/login"
	"acp-agent/internal/observe"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/model"
	"acp-agent/model/catalogue"
	"acp-agent/permissions/projects"
	"acp-agent/sandbox"
	"acp-agent/session"
	"acp-agent/skills"
	"acp-agent/store"
	"acp-agent/subagent"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
	"acp-agent/workspace"
)

// envScript names a model script that answers instead of a server: for tests
// and for trying things out without a model.
const envScript = "ACP_AGENT_MODEL_SCRIPT"

// defaultModel is asked of the hosted server when no model was named.
const defaultModel = "gpt-5"

// core is the agent put together: everything that does not depend on how a
// user reaches it. What it needs of the disk is read when a session first
// asks for it, never before.
type core struct {
	sources config.Sources
	getenv  func(string) string
	logger  *logger
	// stateDir holds the sessions' own directories and the log.
	stateDir string
	// dataDir holds what the user decided about projects and the record of calls,
	// cacheDir the build caches of commands.
	dataDir, cacheDir string
	// scripted, unless nil, answers in place of a server.
	scripted model.Provider
	// everyTool lists every tool to the model, so that none has to be searched for (R87).
	everyTool bool
	// pacesCollector says that the process stays, and takes little memory (paceCollector).
	pacesCollector bool
	// readOnly is set where calls are only explained: nothing is written, fetched or started.
	readOnly bool

	// tape records what is asked of the world outside, or answers from a recording; nil does
	// neither.
	tape *record.Tape
	// stage is an empty directory in which a recording is played.
	stage string

	// keys are the agent's own, which no text to the model and no result of a tool may hold.
	keys redact.Values

	// assemble makes the host, once. It sets launcher and box, which only what comes after it uses.
	assemble func() (*session.Host, error)
	launcher *launch.Launcher
	box      *sandbox.Box

	mu       sync.Mutex // guards what follows
	state    state
	warnings []string      // what of the configuration could not be used
	host     *session.Host // once it is assembled
	set      *toolset
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
		stateDir: stateHome(), dataDir: dataHome(),
		cacheDir: filepath.Join(xdg.CacheHome, "acp-agent"),
	}
	c.sources.ReadLogin = login.Read
	c.assemble = sync.OnceValues(c.newHost)
	return c
}

// firstModelTimeout bounds the wait for a server's list when no model is named.
const firstModelTimeout = 5 * time.Second

// Warm prepares what the first session needs, so that it does not wait: the host, and at the same
// time the tables that each session looks things up in.
func (c *core) Warm() {
	var tables sync.WaitGroup
	defer tables.Wait()
	tables.Go(func() {
		builtin.Known("")
		_, _ = catalogue.Find("", "")
	})
	_, _ = c.assemble()
}

// Open opens a new session (session/new).
func (c *core) Open(ctx context.Context, spec session.Spec) (*session.Session, error) {
	host, err := c.assemble()
	if err != nil {
		return nil, err
	}
	c.redactServerKeys(spec.Servers)
	return host.Open(ctx, spec)
}

// Resume opens a stored session (session/load, session/resume).
func (c *core) Resume(ctx context.Context, id string, spec session.Spec) (*session.Session, error) {
	host, err := c.assemble()
	if err != nil {
		return nil, err
	}
	c.redactServerKeys(spec.Servers)
	if err := c.recallStored(host.Store, id); err != nil {
		return nil, err
	}
	return host.Resume(ctx, id, spec)
}

// List returns a page of the stored sessions (session/list).
func (c *core) List(o store.ListOptions) (page store.Page, err error) {
	host, err := c.assemble()
	if err != nil {
		return page, err
	}
	page, err = record.Ask(c.tape, "stored sessions", o.Cwd+"\x00"+o.Cursor, func() (store.Page, error) { return host.List(o) })
	return page, recalled(err, store.ErrCursor)
}

// Fork copies a stored session (session/fork).
func (c *core) Fork(id string, o store.ForkOptions) (info store.Info, err error) {
	host, err := c.assemble()
	if err != nil {
		return info, err
	}
	if err := c.recallStored(host.Store, id); err != nil {
		return info, err
	}
	return host.Fork(id, o)
}

// Delete deletes a stored session (session/delete).
func (c *core) Delete(id string) error {
	host, err := c.assemble()
	if err != nil {
		return err
	}
	return host.Delete(id)
}

func (c *core) newHost() (*session.Host, error) {
	cfg, err := c.load("")
	if err != nil {
		cfg = config.Default() // the mistake is reported when a session is opened
	}
	if c.launcher, err = newLauncher(); err != nil {
		return nil, err
	}
	c.box = c.newBox(cfg)
	if c.tape.Plays() {
		cfg.Toolbox.Dirs, cfg.Tools.Mount = []string{}, nil
	}
	set, err := c.newToolset(cfg)
	if err != nil {
		return nil, err
	}
	shellName, dialect := findShell(c.getenv("PATH"))
	host := &session.Host{
		Backend: c.Backend, IDs: c.ids(), Tape: c.tape, Stage: c.stage,
		Configuration: session.Configuration{Configure: c.settings, Warnings: c.problems, Projects: c.projects(), Store: c.conversations(cfg), Explain: explainCommand},
		Agents: session.Agents{
			Manifest: subagent.Main(), Manifests: c.agentOptions(nil),
			Skills: skills.Options{
				Home: c.sources.HomeDir, ConfigHome: xdg.ConfigHome, Paths: cfg.Skills.Paths, URLs: cfg.Skills.URLs,
				Fetch: set.web.page,
			},
		},
		Toolset: session.Toolset{
			Registry: set.registry, Mounting: set.mounting, Languages: languageServers(cfg.LSP), Net: set.web.forTool,
			FirstWait: standIns.FirstWait, Tokens: c.tokenStore(cfg), Version: version,
		},
		Machine: session.Machine{
			Home: c.sources.HomeDir, UserData: c.dataDir, Own: c.ownPaths(), Guarded: c.guarded(set),
			StateDir: filepath.Join(c.stateDir, "sessions"), Locks: workspace.Locks{Dir: filepath.Join(c.stateDir, "locks"), Alone: c.warnUnlocked},
		},
		Processes: session.Processes{Launcher: c.launcher, Sandbox: c.box.Probe, Box: c.box, Shell: shellName, Dialect: dialect, Environ: os.Environ()},
		Privacy:   session.Privacy{Secrets: c.secrets, Redact: c.logger.values.Text, Keys: &c.keys, AddSecrets: c.redactSecrets, Redaction: c.redaction},
		Observers: session.Observers{Logger: c.logger.Logger, Bus: observe.New(c.logger.Logger)},
	}
	if standIns.Sandbox != nil {
		host.Sandbox = standIns.Sandbox()
	}
	c.tapeSandbox(host)
	if cfg.Log.Trace {
		host.Tracer = trace.New(c.logger.trace())
	}
	contribute(host.Bus, set.mounting)
	if c.readOnly || c.tape.Plays() {
		host.Skills.URLs, host.Skills.Fetch = nil, nil
	} else {
		c.startBackground(host, cfg)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host, c.set = host, set
	return host, nil
}

// conversations is where conversations are kept; nil keeps none.
func (c *core) conversations(cfg *config.Config) *store.Store {
	if !cfg.Sessions.Store || c.readOnly {
		return nil
	}
	return store.New(store.Options{Dir: conversationsDir(c.dataDir), IDs: c.ids(), Clean: c.clean})
}

// warnUnlocked logs that edits of other agent processes are not waited for.
func (c *core) warnUnlocked(err error) {
	c.logger.Warn("edits are not locked against other agent processes", "error", err)
}

// startBackground starts what runs after the answer to initialize. Only the first command waits
// for a part of it, the sandbox.
func (c *core) startBackground(host *session.Host, cfg *config.Config) {
	host.Sweep()
	if days := cfg.Audit.KeepDays; days > 0 {
		host.SweepAudit(auditDir(c.dataDir), time.Duration(days)*24*time.Hour)
	}
	if cfg.Sessions.Store {
		host.SweepStore(store.Limits{KeepDays: cfg.Sessions.KeepDays, MaxBytes: cfg.Sessions.MaxBytes})
	}
	host.Warm()
	// A session that is opened at once asks for the finding after its own answer; until
	// then the trials would take the processor from it. Once the probe is stopped, the
	// timer starts nothing.
	time.AfterFunc(probeDelay, func() {
		if c.pacesCollector {
			paceCollector()
		}
		applyMemoryLimit(cgroup.System())
		host.Sandbox.Start(context.Background())
	})
}

// probeDelay is how long the sandbox's probe leaves the processor to a first session.
const probeDelay = 20 * time.Millisecond

// contribute makes the events of the mounted modules known (R131).
func contribute(bus *observe.Bus, mounting *mount.Mounting) {
	bus.Contribute("modules", func() []string { return mounting.Contributions(mount.EventsChannel) })
}

// problems are what of the configuration could not be used.
func (c *core) problems() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.warnings)
}

// load reads the configuration, with that of the project in a directory unless
// cwd is empty, and has the log heed it.
func (c *core) load(cwd string) (*config.Config, error) { return c.loadFrom(c.sources, cwd) }

func (c *core) loadFrom(sources config.Sources, cwd string) (*config.Config, error) {
	cfg, err := c.read(sources, cwd)
	switch {
	case err != nil:
	case c.readOnly:
		c.logger.redactValues(cfg.Secrets()...) // and no file is opened
		c.redactKeys(cfg.Keys()...)
	default:
		c.logger.configure(cfg, c.stateDir)
		c.redactKeys(cfg.Keys()...)
	}
	return cfg, err
}

// projects is where the user's decisions about projects are kept.
func (c *core) projects() *projects.Store {
	store := projects.New(c.dataDir)
	if c.readOnly {
		store = store.ReadOnly()
	}
	return store
}

// findShell names the shell that commands will run under and its language. On a machine without
// a shell each command fails and says so.
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

// Close ends what runs in the background, and the log's file; sessions are
// closed before.
func (c *core) Close() {
	c.mu.Lock()
	host, set := c.host, c.set
	c.mu.Unlock()
	if host != nil {
		host.Sandbox.Stop()
		host.Close()
		if err := set.close(); err != nil {
			c.logger.Warn("modules", "error", err.Error())
		}
		closeBus(host.Bus)
	}
	c.logger.close()
}

// busGrace is how long subscribers have to see the last events.
const busGrace = 200 * time.Millisecond

func closeBus(bus *observe.Bus) {
	ctx, cancel := context.WithTimeout(context.Background(), busGrace)
	defer cancel()
	_ = bus.Close(ctx) // a subscriber that hangs does not hold up the exit
}
