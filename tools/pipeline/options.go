package pipeline

import (
	"context"
	"log/slog"

	"acp-agent/capability"
	"acp-agent/internal/observe"
	"acp-agent/internal/redact"
	"acp-agent/internal/resultcache"
	"acp-agent/internal/shell"
	"acp-agent/internal/trace"
	"acp-agent/permissions"
	"acp-agent/permissions/watchdog"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// Options are what a Pipeline is made of.
type Options struct {
	// Registry holds the tools at the start; see Adopt.
	Registry *tools.Registry
	// Disabled says whether a tool is off, and why (R9); nil means none is.
	Disabled func(tool string) (reason string, off bool)
	// Gate says which tools the agent has (R10), ModePolicy what the session's mode
	// says beside that; nil means that it says nothing.
	Gate       tools.Gate
	ModePolicy func() ModePolicy
	// Deferral says which tools the model has to look for (R87).
	Deferral Deferral
	// Requires is what the agent's manifest needs beside its tools (R112).
	Requires capability.RequirementSet
	// UserData are the directories behind {user-data}.
	UserData  []string
	Workspace *workspace.Workspace
	// Services are the session's, but for those that belong to a call.
	Services tools.Services
	// Net gives the network of a tool; nil means that there is none.
	Net    func(tool string) tools.Net
	Policy *Policy
	// Keep stores rules for the project and puts them in force; nil means that
	// nothing can be stored for it.
	Keep func(rules []permissions.Rule) error
	// Trusted reports whether the person trusts the project as it is at this
	// moment, and takes out of the policy what hung on a trust that is gone; nil
	// means that they do not trust it.
	Trusted func() bool
	// Watchdog is asked about every call before it runs and can only narrow
	// (R121); nil means that there is none.
	Watchdog watchdog.Watchdog
	// Agent is whose calls these are: see watchdog.Call.
	Agent string
	// Parent is the pipeline of the agent that delegated to this one, whose tools and
	// reach bound this one's (R64); nil for the main agent. Names are the names of the
	// agents from below the main one down to this one, as people are told of it; none for
	// the main agent. Their ids are the Workspace's to tell.
	Parent *Pipeline
	Names  []string
	// Keys are the agent's own keys, which no tool's result may show; nil means that
	// there are none.
	Keys *redact.Values
	// Audit keeps a record of every call (R129); nil means that there is none.
	Audit Auditor
	// Asker puts permission requests to the person; nil means that there is
	// nobody, and every ask is a denial (R122).
	Asker tools.Asker
	// Line orders the questions of the session's agents; nil means one at a time, in order.
	// That of a subagent is its parent's.
	Line tools.Line
	// Await is called when a call begins to wait for the person, and what it returns when
	// it waits no more; nil means that nobody wants to know.
	Await func(ctx context.Context) (over func())
	// Unconfined says, where nobody is asked, why commands must not run even if a
	// rule allows them; nil, or "", means that they may (R124). It may take as
	// long as it takes to find out how processes are confined.
	Unconfined func(ctx context.Context) string
	Limits     tools.Limits
	// Own are directories of the agent that no tool may write.
	Own  []string
	Home string
	// Dialect is the language of the shell that runs commands (R54).
	Dialect shell.Dialect
	// Logger gets one record a call, without contents; nil means none.
	Logger *slog.Logger
	// Cache keeps results of read-only tools (R130); nil means that none are kept.
	Cache *resultcache.Cache
	// Hosts are those that a person or a search named; nil means none.
	Hosts func() []string
	// Bus is told when calls begin and end (R131), Tracer how long they and
	// their judgement take (R132); nil means that nobody asks.
	Bus    *observe.Bus
	Tracer *trace.Tracer
}
