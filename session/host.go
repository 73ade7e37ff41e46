package session

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"acp-agent/internal/cgroup"
	"acp-agent/internal/launch"
	"acp-agent/internal/lsp"
	"acp-agent/internal/observe"
	"acp-agent/internal/pathname"
	"acp-agent/internal/redact"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/mcp"
	"acp-agent/mcp/oauth"
	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/permissions/watchdog"
	"acp-agent/sandbox"
	"acp-agent/skills"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// Host is what all sessions of a process share.
type Host struct {
	// Backend gives the model server in force now. Credentials may change while
	// the process runs, so it is asked at each turn.
	Backend func() (Backend, error)
	// Registry holds the tools. Mounting has those beside them whose modules and scripts
	// have to be asked what they are; nil means that there are none.
	Registry *tools.Registry
	Mounting *mount.Mounting
	Manifest subagent.Manifest
	// Agents says where the manifests of other agents are, but for those of a project.
	Agents subagent.LoadOptions
	// Skills says where skills and instructions are, but for the session's own
	// directories.
	Skills skills.Options
	// Languages are the language servers; nil means the shipped list.
	Languages []lsp.Server
	// Version is the agent's, as MCP servers and external providers are told it.
	Version string
	// Net gives the network of a tool; nil means that tools have none.
	Net func(tool string) tools.Net
	// Warnings say what of the configuration could not be used; nil means nothing.
	Warnings func() []string
	// UserData is the agent's data directory.
	UserData string
	// Configure gives the settings of a session in a directory.
	Configure func(cwd string) (Settings, error)
	// Projects keeps what the person decides about projects; nil means that
	// nothing is kept, and no project is trusted.
	Projects *projects.Store
	// Explain says how the rules judge what follows /permissions explain; nil
	// means that it is not offered. It runs nothing.
	Explain func(ctx context.Context, s *Session, what string) string
	// Own are directories of the agent that no tool may read or write; Guarded
	// are others that none may write, for what lies there is run.
	Own, Guarded []string
	// StateDir is the private parent of the sessions' directories.
	StateDir string
	Home     string
	Launcher *launch.Launcher
	// Sandbox finds out how processes are confined; nil means not at all.
	Sandbox *sandbox.Probe
	// Box confines processes by what Sandbox found; nil confines none.
	Box *sandbox.Box
	// Shell names the shell that runs commands, Dialect its language.
	Shell   string
	Dialect shell.Dialect
	// Environ is the environment that commands are given, before the sweep;
	// Secrets are values that must never reach a child.
	Environ []string
	Secrets func() []string
	// Clean takes secrets out of a text; nil leaves it as it is. Keys are the agent's
	// own keys, which no tool's result may show; nil means that there are none.
	Clean  func(string) string
	Keys   *redact.Values
	IDs    *transcript.IDs
	Logger *slog.Logger
	// Tokens keeps the tokens of those who signed in to MCP servers; nil means that nobody
	// can.
	Tokens oauth.Store
	// Keep is told of each such token, so that it is shown nowhere; nil means that nobody
	// is.
	Keep func(secrets ...string)
	// Bus is told what happens in all sessions (R131); Tracer records how long
	// things take, nil means not at all (R132).
	Bus    *observe.Bus
	Tracer *trace.Tracer

	// Locks serialise changes of files; they are closed with the host.
	Locks workspace.Locks

	catalogue modelCatalogue
}

// Settings are what the person, and the project of a directory, configured.
type Settings struct {
	// User and Project are their rules, over the shipped defaults.
	User, Project []permissions.Rule
	// Offered are rules of the project that count once the person trusts it;
	// Trusting says in words what else that trust allows, one line each.
	Offered  []permissions.Rule
	Trusting []string
	// Providers are the person's external tool providers (R94).
	Providers []provider.Config
	// Servers are the person's MCP servers. OfferedServers are those of the project, which
	// are not started before the person trusts it.
	Servers, OfferedServers []mcp.Server
	// EditorUnconfined says that the programs of the editor's servers run outside of the
	// sandbox.
	EditorUnconfined bool
	// Mode is the mode that a session starts in; empty means ask.
	Mode   permissions.Mode
	Limits tools.Limits
	// MaxSteps caps the model calls of a turn; 0 means the loop's default.
	MaxSteps int
	// Disabled says whether a tool is off, and why (R9); nil means none is.
	Disabled func(tool string) (reason string, off bool)
	// Threshold is how many tools there may be that are neither locked nor among Always
	// before the agent's own of them are deferred (R87); 0 means any number. ListedSize
	// is how many bytes of a request they may take, and those from elsewhere; 0 means that
	// their number decides alone.
	Threshold, ListedSize int
	Always                []string
	// Hosts may be fetched from without a question.
	Hosts []string
	// SecretNames are patterns of further names that hold secrets, see
	// permissions.NewSecrets.
	SecretNames []string
	// ReadRoots and WriteRoots are directories beside the session's own that
	// tools may use (C-29).
	ReadRoots, WriteRoots []string
	// Sandbox is the kind of sandbox that the person requires; empty means any.
	// Network leaves the network open to all commands.
	Sandbox sandbox.Kind
	Network bool
	// Editor says whether the client's files may be used when it offers them.
	Editor bool
	// Watchdog judges each call before it runs (R121); nil means that none does.
	Watchdog  watchdog.Watchdog
	Subagents Subagents
	// Agent names the agent that the person talks to; empty means Host.Manifest.
	Agent string
	// Audit says where calls are recorded (R129).
	Audit Audit
}

// Backend is a model server and how it is used.
type Backend struct {
	Provider model.Provider
	// Model is the configured model; ThoughtLevel its configured effort.
	Model        string
	ThoughtLevel string
	Temperature  *float64
	MaxTokens    int
	// NoticeAfter is how long a model may bring nothing before the user is told.
	NoticeAfter time.Duration
	// Server says in words which server answers and where its key was named; empty when
	// none does.
	Server string
	// Check says why a model's name cannot be used, of an agent as of a choice; nil means
	// that any can be tried.
	Check func(model string) error
}

// usable says why a model's name cannot be used; nil when it can be tried.
func (b Backend) usable(model string) error {
	if b.Check == nil {
		return nil
	}
	return b.Check(model)
}

// Spec is what a client asks of a new session.
type Spec struct {
	Cwd        string
	Additional []string
	// Sink sees the session's events.
	Sink transcript.Sink
	// Asker puts permission requests to the person; nil means that there is
	// none, and every ask is a denial (R122).
	Asker tools.Asker
	// Line orders the questions of the session's agents; nil means one at a time, in order.
	Line tools.Line
	// Unsandboxed says that, with no Asker, rules may let commands run although
	// nothing confines them (R124).
	Unsandboxed bool
	// CommandTimeout ends a command that asks for no time limit, where the settings have
	// none either; 0 means never, for somebody is there to cancel it.
	CommandTimeout time.Duration
	// Waits says that whoever opened the session waits for its subagents with Rest, so
	// that the end of a turn need not say which of them go on.
	Waits bool
	// Agent names the agent that the person talks to; empty means that of the settings.
	Agent string
	// Rules are of this session alone, as if the person had answered "always".
	Rules []permissions.Rule
	// Questions puts the questions of the question tool to the person; nil means
	// that there is nobody to answer them (R76).
	Questions tools.Questioner
	// Person is asked what MCP servers want to know; nil means that there is nobody.
	Person mcp.Person
	// Editor and Terminals are the client's; nil means that it has none.
	Editor    workspace.Editor
	Terminals run.Terminals
	// Servers are the MCP servers that the client wants connected.
	Servers []mcp.Server
	// Trial is shared by the sessions of a connection; see workspace.Options.
	Trial *run.TerminalTrial
}

// Close ends what the host does behind the scenes. Sessions are closed before.
func (h *Host) Close() {
	h.catalogue.close()
	h.Box.Close()
	_ = h.Locks.Close() // nothing is written there
}

// ownFile reports whether a file is one of the agent's own, for its configuration may hold
// the key. The session's own directory lies apart (workspace.Options.StateDir).
func (h *Host) ownFile(path string) bool {
	holds := func(dir string) bool { return pathname.Contains(dir, path) }
	return !holds(h.StateDir) && slices.ContainsFunc(h.Own, holds)
}

// untouchable are the directories that no tool may write.
func (h *Host) untouchable() []string { return slices.Concat(h.Own, h.Guarded) }

// Warm reads the expected finding about the sandbox and writes the tools' schemas, in the
// background, so that neither the first session nor its first prompt waits for that.
func (h *Host) Warm() {
	h.catalogue.working.Go(func() {
		h.Sandbox.Expected()
		for _, entry := range h.Registry.All() {
			if h.catalogue.ending() {
				return
			}
			entry.Schema()
		}
	})
}

// Sweep removes, in the background, what sessions of killed processes left: their
// directories (R107), and the cgroups of their commands.
func (h *Host) Sweep() {
	h.catalogue.working.Go(func() {
		if removed := cgroup.System().Sweep(); removed > 0 {
			h.Logger.Info("removed cgroups of killed commands", "removed", removed)
		}
		h.Box.Sweep()
		if removed, err := workspace.Sweep(h.StateDir); err != nil || removed > 0 {
			h.Logger.Info("swept leftovers of killed sessions", "removed", removed, "error", err)
		}
	})
}
