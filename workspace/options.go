package workspace

import (
	"time"

	"acp-agent/internal/launch"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Options are what a Workspace is made of.
type Options struct {
	// SessionID names the session; letters, digits, "-" and "_" only.
	SessionID string
	// Cwd is the session's directory. It must be absolute, exist and be a
	// directory (P9).
	Cwd string
	// Additional are further directories of the session, under the same
	// conditions.
	Additional []string
	// ReadRoots may be read without asking: roots.read and the package caches.
	// WriteRoots may be written too. Those that do not exist are left out.
	ReadRoots, WriteRoots []string
	// Home is the person's home directory; empty leaves "~" as it stands.
	Home string
	// StateDir is the private parent of the sessions' directories. It is
	// created with mode 0700. Empty means the system's temporary directory.
	StateDir string
	// Limits are the sizes in force; the zero value means CanonicalLimits.
	Limits tools.Limits
	// IDs names sidecars; nil means a generator of its own.
	IDs *transcript.IDs
	// Secret says whether a name is a secret's (R30), Protected whether it is
	// one that must never be opened for good by an "always" (P5). nil means
	// that none is.
	Secret, Protected func(abs string) bool
	// Guidance lists the instruction files loaded so far; nil means none.
	Guidance func() []string

	// JournalBytes bounds the pre-images that are kept of changed files; over it
	// the oldest operations can no longer be taken back. 0 means 256 MiB.
	JournalBytes int64

	// Editor is the client's file access; nil means the disk alone.
	Editor Editor
	// EditorTimeout bounds each request to Editor; 0 means 30 s.
	EditorTimeout time.Duration
	// Terminals are the client's; nil means that commands run locally.
	Terminals Terminals
	// Trial remembers, for a connection, whether the client can start our
	// binary in its terminals; nil means a trial of this workspace's own.
	Trial *TerminalTrial

	// Launcher starts commands; nil means that there are none.
	Launcher *launch.Launcher
	// Shell runs them; the zero value means launch.FindShell.
	Shell launch.Shell
	// Environ is the environment before it is scrubbed, Secrets the configured
	// keys that must not survive in it, SetEnv what is added afterwards.
	Environ, Secrets, SetEnv []string
	// Sandbox says how commands are confined. Hidden says of a path in the session's
	// directories that commands must not read it; nil means that they may read all.
	Sandbox Sandboxing
	Hidden  func(abs string) bool
	// GitPrograms lists the settings of a repository's configuration that can make git
	// run a program, as "key=value" (S3). nil means that nothing is compared, and put
	// back, behind commands.
	GitPrograms func(config string) []string
	// Commands is how many commands run at once (X5); 0 means 8.
	Commands int

	// Locks are the per-file locks; sessions of one process that may share
	// files share them. nil means this workspace's own.
	Locks *Locks
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	// fault is called before each step that changes the disk; tests make it
	// fail there.
	fault func(step string) error
}

const (
	defaultEditorTimeout = 30 * time.Second
	defaultCommands      = 8
)

func (o *Options) fill() {
	none := func(string) bool { return false }
	if o.Secret == nil {
		o.Secret = none
	}
	if o.Protected == nil {
		o.Protected = none
	}
	if o.Guidance == nil {
		o.Guidance = func() []string { return nil }
	}
	if o.Limits == (tools.Limits{}) {
		o.Limits = tools.CanonicalLimits()
	}
	if o.IDs == nil {
		o.IDs = &transcript.IDs{}
	}
	if o.EditorTimeout <= 0 {
		o.EditorTimeout = defaultEditorTimeout
	}
	if o.Trial == nil {
		o.Trial = &TerminalTrial{}
	}
	if o.Commands <= 0 {
		o.Commands = defaultCommands
	}
	if o.Locks == nil {
		o.Locks = &Locks{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.fault == nil {
		o.fault = func(string) error { return nil }
	}
}
