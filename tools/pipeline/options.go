package pipeline

import (
	"log/slog"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/resultcache"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// Options configures a Pipeline. Each embedded group has one owner.
type Options struct {
	Caller
	Toolset
	Judges
	Machine
	Observers

	// Session gives access to the state of the session; nil means NoSession.
	Session Session
	// Workspace has the session's files, commands and history, as this agent may use them.
	Workspace *workspace.Workspace
	// Services are the services of the session; the pipeline adds those of a single call.
	Services tools.Services
	// Limits bound calls and their results. 0 means no bound for the limits that the pipeline itself applies.
	Limits tools.Limits
	// Tape records calls or plays them from a recording; nil does neither.
	Tape *record.Tape
	// Cache stores results of read-only tools (R130); nil stores none.
	Cache *resultcache.Cache
}

// Caller is the agent that makes the calls.
type Caller struct {
	// Agent names it, see watchdog.Call.
	Agent string
	// Parent is the pipeline of the agent that delegated to this one and bounds its tools
	// and its reach (R64); nil for the main agent.
	Parent *Pipeline
	// Names are the names, as the user sees them, of the agents below the main one down to this
	// one; empty for the main agent. The Workspace holds their ids.
	Names []string
}

// Toolset is what the agent may call.
type Toolset struct {
	// Registry holds the tools at the start; see Adopt.
	Registry *tools.Registry
	// Gate says which tools the agent has (R10); ModePolicy narrows it further.
	Gate tools.Gate
	// Deferral says which tools the model has to look for (R87).
	Deferral Deferral
	// Requires is what the agent's manifest requires in addition to its tools (R112).
	Requires capability.RequirementSet
}

// Judges decide about a call.
type Judges struct {
	// Policy has the rules.
	Policy *Policy
	// Watchdog judges every call before it runs and can only narrow (R121); nil means that
	// there is none.
	Watchdog watchdog.Watchdog
	// Asker sends permission requests to the user; nil means that there is no user, and every
	// ask is a denial (R122).
	Asker tools.Asker
	// Queue orders the questions of the session's agents; nil means one at a time, in order.
	// A subagent uses the queue of its parent.
	Queue tools.QuestionQueue
}

// Machine describes the machine that calls run on, and what on it belongs to the agent.
type Machine struct {
	// Home is the user's home directory, which "~" means in rules and commands; "" when it is not known.
	Home string
	// UserData are the directories for the variable {user-data}.
	UserData []string
	// Own are directories of the agent that no tool may write.
	Own []string
	// Keys are the agent's own keys, which no tool's result may show; nil means that there
	// are none.
	Keys *redact.Values
	// Dialect is the language of the shell that runs commands (R54).
	Dialect shell.Dialect
	// Encoding is the encoding of the texts that it runs.
	Encoding shell.Encoding
}

// Observers see calls and do not influence them. Each may be nil.
type Observers struct {
	// Audit records every call (R129).
	Audit Auditor
	// Logger gets one record per call, without contents.
	Logger *slog.Logger
	// Bus gets an event when a call starts and when it ends (R131).
	Bus *observe.Bus
	// Tracer measures calls and their judgement (R132).
	Tracer *trace.Tracer
}
