package run

import (
	"acp-agent/internal/launch"
	"acp-agent/internal/rootfile"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace/private"
	"acp-agent/workspace/undo/journal"
)

// Options say how commands are run.
type Options struct {
	// Launcher starts commands; nil means that there are none.
	Launcher *launch.Launcher
	// Shell runs them; the zero value means launch.FindShell.
	Shell launch.Shell
	// Environ is the environment before it is scrubbed, Secrets the configured
	// keys that must not survive in it, SetEnv what is added afterwards. Passed are names of
	// variables that the user wants commands to have, see [launch.EnvOptions]; a command that
	// runs unasked because it only reads has none of them.
	Environ, Secrets, SetEnv, Passed []string
	// Sandbox says how commands are confined.
	Sandbox Sandboxing
	// GitPrograms lists the settings of a repository's configuration that can make git
	// run a program, as "key=value" (S3). nil means that nothing is compared, and put
	// back, after commands.
	GitPrograms func(config string) []string
	// AtOnce is how many commands run at once (X5); 0 means 8.
	AtOnce int
	// Terminals are the client's; nil means that commands run locally.
	Terminals Terminals
	// Trial remembers, for a connection, whether the client can start our
	// binary in its terminals; nil means a trial of this runner's own.
	Trial *TerminalTrial
	// Jobs are told of commands in the background.
	Jobs JobHooks
}

const defaultAtOnce = 8

func (o *Options) fill() {
	if o.AtOnce <= 0 {
		o.AtOnce = defaultAtOnce
	}
	if o.Trial == nil {
		o.Trial = &TerminalTrial{}
	}
}

// Sandboxing is how a session's commands are confined.
type Sandboxing struct {
	// Box makes the policies; nil confines nothing.
	Box *sandbox.Box
	// Level is the kind that the user requires; empty means any, sandbox.None that
	// there need not be one.
	Level sandbox.Kind
	// Network leaves the network open to all commands.
	Network bool
	// OfferOutside says that the user may let a command run outside of the sandbox.
	OfferOutside bool
	// Earlier lists the directories of stored sessions, which may be of other processes; nil lists none.
	Earlier func() []string
}

// Protection says which files are kept from tools and commands, by absolute path. nil
// functions say that none is.
type Protection struct {
	// Secret says whether a name is a secret's (R30), Protected whether it is one that
	// must never be opened for good by an "always" (P5).
	Secret, Protected func(abs string) bool
	// Hidden says of a path in the session's directories that commands must not read it.
	Hidden func(abs string) bool
}

// Workspace is what a runner has to know of the workspace whose commands it runs.
type Workspace struct {
	// Roots are the directories that files may be read in; the first Own are the
	// session's own.
	Roots []Root
	Own   int
	// WorkingDir resolves the directory that a command is to start in, or refuses it.
	WorkingDir func(path string) (string, error)
	// Private is the session's private directory.
	Private *private.Dir
	// Journal tells what the session's tools themselves changed.
	Journal    Journal
	Limits     tools.Limits
	Protection Protection // Secret and Protected are never nil
	// Sidecar opens a file for the output of a job.
	Sidecar func() (tools.Sidecar, error)
}

// Root is a directory of a workspace; in one with Write files may be changed.
type Root struct {
	rootfile.Dir
	Write bool
}

// Journal is what the session's tools changed. It may be asked from any goroutine.
type Journal interface {
	// Mark is a moment; Written are the changes since then, by path.
	Mark() int
	Written(mark int) map[string]journal.Change
}
