package session

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"acp-agent/export"
	"acp-agent/internal/launch"
	"acp-agent/internal/lsp"
	"acp-agent/internal/observe"
	"acp-agent/internal/pathname"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/mcp/oauth"
	"acp-agent/permissions/projects"
	"acp-agent/sandbox"
	"acp-agent/skills"
	"acp-agent/store"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// Host is what all sessions of a process share. Each group comes from one owner. A field or variable
// host is a Host; a host of the network is called by what it is for, such as hostQuestion and serverHosts.
type Host struct {
	// Backend returns the model server in force now. Credentials may change while the
	// process runs, so each turn asks for it.
	Backend func() (Backend, error)
	// IDs makes the ids of sessions and of everything in them.
	IDs *transcript.IDs
	// Tape records what sessions ask the world outside, or answers for it from a recording; nil
	// does neither.
	Tape *record.Tape
	// Stage is an empty directory that stands for the directories of sessions while a recording
	// is played.
	Stage string
	// autoExplained says that a session of the process has explained the mode auto.
	autoExplained atomic.Bool

	Configuration
	Agents
	Toolset
	Machine
	Processes
	Privacy
	Observers

	background background // sweeps, and what Warm does
	catalogue  modelCatalogue
}

// Configuration is what the user decided, in files and in earlier sessions.
type Configuration struct {
	// Configure reads the settings of a session in a directory.
	Configure func(cwd string) (Settings, error)
	// Warnings say which parts of the configuration could not be used; nil means none.
	Warnings func() []string
	// Projects stores what the user decides about projects; nil means that nothing is
	// stored, and no project is trusted.
	Projects *projects.Store
	// Store keeps conversations; nil means that they end with the process.
	Store *store.Store
	// Explain answers /permissions explain: how the rules judge what follows. It runs
	// nothing. nil means that the command is not offered.
	Explain func(ctx context.Context, s *Session, what string) string
}

// Agents says which agents a session has, and where their skills and instructions are.
type Agents struct {
	// Manifest is the main agent's.
	Manifest subagent.Manifest
	// Manifests says where the manifests of other agents are, except those of a project.
	Manifests subagent.LoadOptions
	// Skills says where skills and instructions are, except those in the session's own
	// directories.
	Skills skills.Options
}

// Toolset is the tools, and what they need from outside.
type Toolset struct {
	// Registry holds the tools that are known at the start. Mounting finds those of modules
	// and scripts that describe themselves; nil means that there are none.
	Registry *tools.Registry
	Mounting *mount.Mounting
	// FirstWait is how long the first prompt waits for sources of tools; zero means 2 s.
	FirstWait time.Duration
	// Languages are the language servers; nil means the shipped list.
	Languages []lsp.Server
	// Net returns the network of a tool; nil means that tools have none.
	Net func(tool string) tools.Net
	// Tokens stores the tokens of sign-ins to MCP servers; nil means that no one can sign in.
	Tokens oauth.Store
	// Version is the agent's, as MCP servers and external providers learn it.
	Version string
}

// Machine is the machine that sessions run on, and what of it belongs to the agent.
type Machine struct {
	// Home is the user's home directory, UserData the agent's data directory.
	Home, UserData string
	// Own are directories of the agent that no tool may read or write. Guarded are
	// directories that no tool may write, because what lies there is run.
	Own, Guarded []string
	// StateDir is the private parent of the sessions' directories.
	StateDir string
	// Locks serialise changes of files. Host.Close closes them.
	Locks workspace.Locks
}

// Processes says how the agent starts processes.
type Processes struct {
	Launcher *launch.Launcher
	// Sandbox finds out how processes are confined; nil means not at all.
	Sandbox *sandbox.Probe
	// Box confines processes by what Sandbox found; nil confines none.
	Box *sandbox.Box
	// Shell names the shell that runs commands, Dialect its language.
	Shell   string
	Dialect shell.Dialect
	// Environ is the environment of commands, before secrets are removed from it.
	Environ []string
}

// Privacy keeps secrets from models, children and logs.
type Privacy struct {
	// Secrets are values that must never reach a child.
	Secrets func() []string
	// Redact removes secrets from a text; nil leaves it as it is.
	Redact func(string) string
	// Keys finds the agent's own keys, which no tool's result may show; nil finds none.
	Keys *redact.Values
	// Redaction returns what /export --redact removes about this user and machine; nil removes
	// nothing about them.
	Redaction func() *export.Redaction
	// AddSecrets adds values to Secrets and Keys that the agent receives while it runs, such as
	// tokens; nil ignores them.
	AddSecrets func(secrets ...string)
}

// Observers receive what happens in all sessions.
type Observers struct {
	Logger *slog.Logger
	// Bus gets the events of all sessions (R131).
	Bus *observe.Bus
	// Tracer measures how long things take; nil means that nothing is measured (R132).
	Tracer *trace.Tracer
}

// Close ends the background work of the Host. The caller closes the sessions first.
func (h *Host) Close() {
	h.catalogue.background.close()
	h.background.close()
	h.Box.Close()
	_ = h.Store.Close() // the recorders have written everything
	_ = h.Locks.Close() // nothing is written there
}

// ownFile reports whether a file is one of the agent's own: its configuration may hold a key. The
// directories of sessions are not among its own.
func (h *Host) ownFile(path string) bool {
	holds := func(dir string) bool { return pathname.Contains(dir, path) }
	return !holds(h.StateDir) && slices.ContainsFunc(h.Own, holds)
}

// untouchable are the directories that no tool may write.
func (h *Host) untouchable() []string { return slices.Concat(h.Own, h.Guarded) }

// Warm reads the expected finding about the sandbox and writes the tools' schemas, in the
// background, so that neither the first session nor its first prompt waits for that.
func (h *Host) Warm() {
	h.background.start(func(ctx context.Context) {
		h.Sandbox.Expected()
		for _, entry := range h.Registry.All() {
			if ctx.Err() != nil {
				return
			}
			entry.Schema()
		}
	})
}
