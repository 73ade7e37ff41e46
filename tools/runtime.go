package tools

import (
	"time"
)

// Runtime is all that a running tool can reach (R12). It belongs to one call.
type Runtime interface {
	// CallID is the id of the call, unique in the session.
	CallID() string
	FS() FS
	Processes() Processes
	Net() Net
	Clock() Clock
	Session() Session
	Services() Services
	// Sidecar opens a file in the session's private directory for a result
	// that is too large to return (R105, R107). The caller closes it.
	Sidecar() (Sidecar, error)
	// Progress shows a running call's output and restarts its time limit
	// (R103). Text need not be whole lines or whole characters.
	Progress(text []byte)
}

// Session is what a tool may know of the session it runs in.
type Session struct {
	ID string
	Env
	// Roots are the directories that belong to the session, absolute and
	// resolved, Cwd first.
	Roots []string
	// Scratch is the session's own directory (R109).
	Scratch string
	// Limits are the sizes in force.
	Limits Limits
	// Guidance are the project instruction files already loaded.
	Guidance []string
	// IsSubagent says that the call is not of the agent that the user talks to. Path
	// are the ids from the session down to the agent whose call it is (R64).
	IsSubagent bool
	Path       []string
}

// Clock is time as tools see it.
type Clock interface {
	Now() time.Time
}
