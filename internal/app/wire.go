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

	"acp-agent/commands"
	"acp-agent/config"
	"acp-agent/internal/cgroup"
	"acp-agent/internal/launch"
	"acp-agent/internal/login"
	"acp-agent/internal/observe"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/mcp"
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
	// scripted, when set, answers instead of a server.
	scripted model.Provider
	// everyTool has no tool wait to be found (R87).
	everyTool bool
	// pacesCollector says that the process stays, and takes little memory (paceCollector).
	pacesCollector bool
	// inert has nothing written, fetched or started: it is there to explain.
	inert bool

	// tape records what is asked of the world outside, or answers from a recording; nil does
	// neither.
	tape *record.Tape
	// stage is an empty directory in which a recording is played.
	stage string

	// keys are our own, which neither the model nor a tool's result may hold.
	keys redact.Values

	// assemble makes the host, once.
	assemble func() (*session.Host, error)

	mu       sync.Mutex
	state    state
	launcher *launch.Launcher
	box      *sandbox.Box
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

// dataHome is the data directory of the user's own agent.
func dataHome() string { return filepath.Join(xdg.DataHome, "acp-agent") }

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
	c.keepOf(spec.Servers)
	return host.Open(ctx, spec)
}

// Resume opens a stored session (session/load, session/resume).
func (c *core) Resume(ctx context.Context, id string, spec session.Spec) (*session.Session, error) {
	host, err := c.assemble()
	if err != nil {
		return nil, err
	}
	c.keepOf(spec.Servers)
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
	return record.Ask(c.tape, "stored sessions", o.Cwd+"\x00"+o.Cursor, func() (store.Page, error) { return host.List(o) })
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
			Registry: set.registry, Mounting: set.mounting, Languages: languageServers(cfg.LSP), Net: set.web.of,
			FirstWait: standIns.FirstWait, Tokens: c.tokenStore(cfg), Version: version,
		},
		Machine: session.Machine{
			Home: c.sources.HomeDir, UserData: c.dataDir, Own: c.own(), Guarded: c.guarded(set),
			StateDir: filepath.Join(c.stateDir, "sessions"), Locks: workspace.Locks{Dir: filepath.Join(c.stateDir, "locks"), Alone: c.alone},
		},
		Processes: session.Processes{Launcher: c.launcher, Sandbox: c.box.Probe, Box: c.box, Shell: shellName, Dialect: dialect, Environ: os.Environ()},
		Privacy:   session.Privacy{Secrets: c.secrets, Redact: c.logger.values.Text, Keys: &c.keys, AddSecrets: c.hide, Redaction: c.redaction},
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
	if c.inert || c.tape.Plays() {
		host.Skills.URLs, host.Skills.Fetch = nil, nil
	} else {
		c.begin(host, cfg)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host, c.set = host, set
	return host, nil
}

// conversationsDir is where the conversations are in a data directory.
func conversationsDir(dataDir string) string { return filepath.Join(dataDir, "conversations") }

// conversations is where conversations are kept; nil keeps none.
func (c *core) conversations(cfg *config.Config) *store.Store {
	if !cfg.Sessions.Store || c.inert {
		return nil
	}
	return store.New(store.Options{Dir: conversationsDir(c.dataDir), IDs: c.ids(), Clean: func(text string) string { return c.keys.Text(c.logger.values.Text(text)) }})
}

// alone says that edits of other agent processes are not waited for.
func (c *core) alone(err error) {
	c.logger.Warn("edits are not locked against other agent processes", "error", err)
}

// begin starts what goes on after the answer to initialize: nothing waits for it, but
// the first command for the sandbox.
func (c *core) begin(host *session.Host, cfg *config.Config) {
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
		heedMemoryLimit(cgroup.System())
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
	case c.inert:
		c.logger.hide(cfg.Secrets()...) // and no file is opened
		c.keep(cfg.Keys()...)
	default:
		c.logger.configure(cfg, c.stateDir)
		c.keep(cfg.Keys()...)
	}
	return cfg, err
}

// hide keeps what was given to us while we run out of the log, and out of what tools show.
func (c *core) hide(secrets ...string) {
	c.logger.hide(secrets...)
	c.keep(secrets...)
}

// keep keeps keys to ourselves. What may be an ordinary word is none.
func (c *core) keep(keys ...string) {
	c.keys.Add(slices.DeleteFunc(keys, func(key string) bool { return !redact.Distinct(key) })...)
}

// keepOf hides the keys of MCP servers, both the user's and the project's.
func (c *core) keepOf(lists ...[]mcp.Server) {
	for _, server := range slices.Concat(lists...) {
		keys := server.Keys()
		c.logger.hide(keys...)
		c.keys.Add(keys...)
	}
}

// own are the directories and files that no tool may write: configuration,
// data, state.
func (c *core) own() []string {
	return skills.Leads(append(stateHomes(),
		// A file that the environment names may lie beside anything.
		filepath.Join(xdg.ConfigHome, "acp-agent"), c.sources.UserFile(), c.dataDir, c.stateDir,
	)...)
}

// guarded are the directories that no tool may write, for what lies there is run, or
// is the user's word for what an agent may do.
func (c *core) guarded(set *toolset) []string {
	return slices.Concat(set.guarded, c.agentDirs())
}

// agentDirs are those of the user's own agents and commands, and the files elsewhere that links
// in them lead to.
func (c *core) agentDirs() []string {
	home, config := c.sources.HomeDir, xdg.ConfigHome
	return skills.Leads(slices.Concat(subagent.UserDirs(home, config), commands.UserDirs(home, config))...)
}

// projects is where the user's decisions about projects are kept.
func (c *core) projects() *projects.Store {
	store := projects.New(c.dataDir)
	if c.inert {
		store = store.ReadOnly()
	}
	return store
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
