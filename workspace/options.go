package workspace

import (
	"time"

	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
	"acp-agent/workspace/undo/snapshot"
	"acp-agent/workspace/undo/timeline"
)

// Options are what a Workspace is made of.
type Options struct {
	// SessionID names the session; letters, digits, "-" and "_" only.
	SessionID string
	// Directories are where the session works.
	Directories Directories
	// Protection says which files are kept from tools and commands.
	Protection run.Protection
	// Editor is the client's part in files; the zero value means the disk alone.
	Editor Editing
	// Commands say how commands are run; the zero value means that there are none.
	Commands run.Options
	// JournalBytes bounds the pre-images that are kept of changed files; over it
	// the oldest operations can no longer be taken back. 0 means 256 MiB.
	JournalBytes int64
	// Keeping says how the user's messages are kept as checkpoints.
	Keeping Keeping
	// Limits are the sizes in force; the zero value means CanonicalLimits.
	Limits tools.Limits
	// IDs names sidecars; nil means a generator of its own.
	IDs *transcript.IDs
	// Guidance lists the instruction files loaded so far; nil means none.
	Guidance func() []string
	// Locks are the per-file locks; sessions of one process that may share
	// files share them. nil means this workspace's own.
	Locks *Locks
	// Count is called with each step, concurrently; tests bound their number with it. nil
	// counts nothing.
	Count func(Step)
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	// fault is called before each step that changes the disk; tests make it
	// fail there.
	fault func(step string) error
}

// Directories are where a session works.
type Directories struct {
	// Cwd is the session's directory. It must be absolute, exist and be a
	// directory (P9).
	Cwd string
	// Additional are further directories of the session, under the same
	// conditions.
	Additional []string
	// Stage, unless nil, returns the directory to open in place of one of the session's, and the
	// path without links that it is said to have: a recording is played where the session's
	// directories do not exist.
	Stage func(dir string) (place, real string)
	// Scratch, unless empty, is the path that the scratch directory is said to have.
	Scratch string
	// Read may be read without asking: roots.read and the package caches.
	// Write may be written too. Directories that do not exist are left out.
	Read, Write []string
	// Home is the user's home directory; empty leaves "~" as it stands.
	Home string
	// State is the private parent of the sessions' directories. It is
	// created with mode 0700. Empty means the system's temporary directory.
	State string
	// Former is the name, below State, that the directory of a stored session had: it gets
	// that again, for the conversation names files in it. "" means a new name.
	Former string
}

// Keeping is what checkpoints are made of.
type Keeping struct {
	// Contents keeps what stood in files beyond the end of the session, and Records what is to
	// be known of it; nil means that they end with the session.
	Contents timeline.Contents
	Records  timeline.Records
	// Bounds are how far a look before or after a command goes; the zero value means those of
	// package snapshot.
	Bounds snapshot.Bounds
}

// Editing is the client's part in files.
type Editing struct {
	// Files is the client's file access; nil means the disk alone.
	Files Editor
	// Timeout bounds each request to Files; 0 means 30 s.
	Timeout time.Duration
}

const defaultEditorTimeout = 30 * time.Second

func (o *Options) fill() {
	none := func(string) bool { return false }
	if o.Protection.Secret == nil {
		o.Protection.Secret = none
	}
	if o.Protection.Protected == nil {
		o.Protection.Protected = none
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
	if o.Editor.Timeout <= 0 {
		o.Editor.Timeout = defaultEditorTimeout
	}
	if o.Locks == nil {
		o.Locks = &Locks{}
	}
	if o.Count == nil {
		o.Count = func(Step) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.fault == nil {
		o.fault = func(string) error { return nil }
	}
}
