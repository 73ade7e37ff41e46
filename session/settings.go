package session

import (
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/sandbox"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
)

// Settings are what the user, and the project of a directory, configured. Each group belongs
// to one part of a session.
type Settings struct {
	// Mode is the mode that a session starts in; empty means ask.
	Mode permissions.Mode
	// Agent names the agent that the user talks to; empty means Host.Manifest.
	Agent string
	Rules Rules
	Reach
	Offering
	Sources
	Limits tools.Limits
	// MaxSteps caps the model calls of a turn; 0 means the loop's default.
	MaxSteps int
	// Watchdog judges each call before it runs (R121); nil means that none does.
	Watchdog  watchdog.Watchdog
	Subagents Subagents
	// Audit says where calls are recorded (R129).
	Audit Audit
}

// Rules are the configured permission rules, which stand above the shipped defaults.
type Rules struct {
	User []permissions.Rule
	// Project are the rules of the project that only tighten, and hold without trust.
	Project []permissions.Rule
	// Offered are rules of the project that count once the user trusts it. Trusting says in words
	// what else trust allows, one line each.
	Offered  []permissions.Rule
	Trusting []string
}

// Reach says which files, hosts and variables tools may use.
type Reach struct {
	// ReadRoots and WriteRoots are directories that tools may use in addition to those of
	// the session.
	ReadRoots, WriteRoots []string
	// SecretNames are patterns for the names of further files that hold secrets; see
	// permissions.NewSecrets.
	SecretNames []string
	// Hosts may be fetched from without a question.
	Hosts []string
	// Sandbox is the kind of sandbox that the user requires; empty means any. Network leaves
	// the network open to all commands.
	Sandbox sandbox.Kind
	Network bool
	// OfferOutside offers commands to run outside of the sandbox on their cards.
	OfferOutside bool
	// Environment names variables that the user wants commands to have (X1).
	Environment []string
	// Editor says whether the client's files may be used when it offers them.
	Editor bool
}

// Offering says which tools the model is offered, and how.
type Offering struct {
	// Disabled reports whether a tool is off, and why (R9); nil means that none is.
	Disabled func(tool string) (reason string, off bool)
	// Threshold is how many tools there may be that are neither locked nor among Always
	// before the agent's own of them are deferred (R87); 0 means any number. ListedSize is
	// how many bytes of a request these tools, and those from elsewhere, may take; 0 means
	// that their number decides alone.
	Threshold, ListedSize int
	Always                []string
}

// Sources are the programs and servers that tools come from.
type Sources struct {
	// Providers are the user's external tool providers (R94).
	Providers []provider.Config
	// Servers are the user's MCP servers. OfferedServers are those of the project, which do
	// not start before the user trusts it.
	Servers, OfferedServers []mcp.Server
	// EditorUnconfined says that the programs of the editor's servers run outside of the
	// sandbox.
	EditorUnconfined bool
	// EditorAsksHosts says that the user is asked about each host that they reach for.
	EditorAsksHosts bool
}

// Subagents says how the subagents of a session are bounded, and what the user set for them.
type Subagents struct {
	// Depth is how deep they may be nested (R65), Running how many run at once.
	Depth, Running int
	// Budget bounds each tree of them.
	Budget subagent.Limits
	// Price returns what a model call cost in US dollars, 0 where that is not known; nil
	// means that no price is known.
	Price func(model string, u transcript.Usage) float64
	// Slots are settings by the names of agents (R99).
	Slots map[string]subagent.Settings
}

// Audit says where the record of a session's calls is kept (R129).
type Audit struct {
	// Dir is the directory of all sessions' records; empty means that none is kept.
	Dir string
	// MaxBytes bounds the record of one session; 0 means that nothing does.
	MaxBytes int64
}
