package watchdog

import (
	"context"
	"encoding/json"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
)

// Call is what a watchdog sees of a tool call, whichever agent made it.
type Call struct {
	// SessionID and CallID name the call, Tool the canonical id of its tool.
	SessionID, CallID, Tool string
	// Args are the arguments that will run: after aliases, preprocessing and
	// validation (R21).
	Args json.RawMessage
	// Agent is whose call it is: the name of the session's manifest, and for a
	// subagent those of the agents above it before its own, with "/" between.
	Agent string
	// IsSubagent says that it is not of the agent that the user talks to. Path are the
	// ids from the session down to the agent whose call it is.
	IsSubagent bool
	Path       []string
	// Cwd is the session's directory, Roots all of its directories, and Mode the
	// mode it is in.
	Cwd   string
	Roots []string
	Mode  string

	// Scratch is the session's own directory for temporary files.
	Scratch string
	// Foreign says that the tool is not one of the agent's own.
	Foreign bool
	// Capabilities are what the tool declares, Resources what the call
	// touches as the rules see it.
	Capabilities []string
	Resources    []permissions.Resource
	// Commands are the shell programs that the call runs.
	Commands []Command
}

// Command is one shell program, and what is needed to take it apart.
type Command struct {
	Text string
	Env  command.Env
}

// Watchdog judges calls. An error, like a panic, is a denial. Judge may be called from
// several goroutines, and returns promptly when ctx ends.
type Watchdog interface {
	Judge(ctx context.Context, call Call) (permissions.Decision, error)
}

// DryRunner is a Watchdog that can say what it would answer without any effect.
type DryRunner interface {
	Watchdog
	// DryRun is Judge without running, writing or sending anything. d is the answer of
	// what could be asked so, an allow where that is nothing; known is false when
	// something was left out, which may still narrow it.
	DryRun(ctx context.Context, call Call) (d permissions.Decision, known bool, err error)
}

// All asks each of several watchdogs until one denies: the strictest answer holds, of
// equal ones the first. An empty All allows.
type All []Watchdog

// Judge implements Watchdog.
func (a All) Judge(ctx context.Context, call Call) (permissions.Decision, error) {
	worst := permissions.Decision{Action: capability.Allow}
	for _, dog := range a {
		if err := ctx.Err(); err != nil {
			return permissions.Decision{}, err
		}
		d, err := dog.Judge(ctx, call)
		if err != nil {
			return permissions.Decision{}, err
		}
		if d.Action.Stricter(worst.Action) {
			worst = d
		}
		if worst.Action == capability.Deny {
			break
		}
	}
	return worst, nil
}

// DryRun implements DryRunner: all but the built-in policies are left out.
func (a All) DryRun(ctx context.Context, call Call) (d permissions.Decision, known bool, err error) {
	var pure All
	for _, dog := range a {
		if dog, ok := dog.(Policy); ok {
			pure = append(pure, dog)
		}
	}
	d, err = pure.Judge(ctx, call)
	return d, len(pure) == len(a), err
}
