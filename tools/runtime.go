package tools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"acp-agent/internal/search"
	"acp-agent/transcript"
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

// Limits are the sizes that a host may tune (docs/configuration.md has their defaults).
type Limits struct {
	// ReadBytes bounds what read returns: 204,800, or 65,536 in profile amp.
	ReadBytes int
	// FileBytes bounds files opened whole: 10,000,000.
	FileBytes int64
	// GrepTotal bounds grep's hits: 200, or 100 in profile amp.
	GrepTotal int
	// GlobTotal bounds glob's files: 1,000.
	GlobTotal int
	// BashBytes bounds a command's output inline: 204,800; BashTail is how much
	// of its end is always kept, in characters: 50,000. Profile amp keeps the
	// tail alone.
	BashBytes, BashTail int
	TailOnly            bool
	// FetchBytes bounds the text of a page: 204,800, or 262,144 in profile amp.
	FetchBytes int
	// ResultBytes bounds every other result: 102,400.
	ResultBytes int
	// ModelBytes bounds what the model reads of any result, with a window of 128,000 tokens
	// or more, and less in proportion with a smaller one: 30,720 in the profile "window"; 0
	// means that the window bounds nothing.
	ModelBytes int
	// StreamBytes bounds, in characters, what providers and modules print: 50,000
	// (R104).
	StreamBytes int
	// ConnectAsk is how long a connection of a command waits for the user's answer about
	// its host: 2 minutes; 0 is without end.
	ConnectAsk time.Duration
	// FilesPerCall bounds the files that one call changes: 100 (R104).
	FilesPerCall int
	// SearchCalls bounds the searches of a session: 25. SearchTimeout bounds
	// each: 15 s (R80).
	SearchCalls   int
	SearchTimeout time.Duration
	// SidecarBytes bounds all sidecars of a session: 1 GiB.
	SidecarBytes int64
	// Timeout is the time limit of tools that have one: 120 s. BashTimeout is
	// bash's: 0, none. BashDefault is that of a command which asks for none where
	// BashTimeout is 0.
	Timeout, BashTimeout, BashDefault time.Duration
	// Concurrent is how many calls run at once: 10.
	Concurrent int
	// Jobs is how many commands may run in the background at once: 32. JobAge is how long
	// each may: 24 hours. JobBytes is how much of the beginning of its output is kept in a
	// file: 16 MiB.
	Jobs     int
	JobAge   time.Duration
	JobBytes int64
	// Command bounds each command.
	Command CommandLimits
}

// CommandLimits bound the resources of one command and all of its processes. Zero
// leaves a resource without a bound.
type CommandLimits struct {
	// Memory bounds the processes of a command together, in bytes. ReadingMemory
	// does, and ReadingTimeout ends, a command that runs without a question
	// because it only reads: 2 GiB and 2 minutes.
	Memory, ReadingMemory uint64
	ReadingTimeout        time.Duration
	// Processes bounds the processes and threads of a command: 4,096.
	Processes uint64
	// FileSize bounds each file that a command writes: 32 GiB. Files bounds the
	// open files of each process: 65,536.
	FileSize, Files uint64
}

// Defaults of CommandLimits. That of Memory depends on the machine.
const (
	DefaultReadingMemory  = 2 << 30
	DefaultReadingTimeout = 2 * time.Minute
	DefaultProcesses      = 4096
	DefaultFileSize       = 32 << 30

	openFiles = 65_536
)

// CanonicalLimits are the figures of the seeds, which are ceilings in the profile "window".
func CanonicalLimits() Limits {
	return Limits{
		ReadBytes: 204_800, FileBytes: 10_000_000, GrepTotal: 200, GlobTotal: 1_000,
		BashBytes: 204_800, BashTail: 50_000, FetchBytes: 204_800, ResultBytes: 102_400,
		StreamBytes: 50_000, SidecarBytes: 1 << 30, FilesPerCall: 100,
		SearchCalls: 25, SearchTimeout: 15 * time.Second, ConnectAsk: 2 * time.Minute,
		Timeout: 120 * time.Second, Concurrent: 10,
		Jobs: 32, JobAge: 24 * time.Hour, JobBytes: 16 << 20,
		Command: CommandLimits{
			ReadingMemory: DefaultReadingMemory, ReadingTimeout: DefaultReadingTimeout,
			Processes: DefaultProcesses, FileSize: DefaultFileSize, Files: openFiles,
		},
	}
}

// AmpLimits are the figures of the limits profile "amp".
func AmpLimits() Limits {
	l := CanonicalLimits()
	l.ReadBytes, l.GrepTotal, l.FetchBytes, l.TailOnly = 65_536, 100, 262_144, true
	return l
}

// FS is the file system as a call may use it: confined to the session's roots
// and what the user granted, checked again at each operation (R113). Paths
// are absolute or as the model wrote them; "~" and relative ones are resolved.
// Errors are *Error with the path in them, or wrap fs.ErrNotExist.
type FS interface {
	// Stat describes a path, following links within the allowed directories.
	Stat(ctx context.Context, path string) (FileInfo, error)
	// Readlink tells where a path leads that is itself a link, as the link has
	// it; "" for what is not a link, or not there. The target need not exist, nor be
	// one that the call may use.
	Readlink(ctx context.Context, path string) (target string, err error)
	// List returns a directory's entries sorted by name, at most limit; more
	// says that there are others.
	List(ctx context.Context, path string, limit int) (entries []DirEntry, more bool, err error)
	// Open opens a regular file's bytes on disk. It never blocks on a FIFO.
	Open(ctx context.Context, path string) (File, error)
	// ReadLines returns lines [from, to] (1-based, inclusive) as the user
	// sees them: the editor's unsaved buffer when it offers one (R155). ok is
	// false when the file is to be read with Open: no editor has a part in it.
	// What is read with ok may change without a trace on disk.
	ReadLines(ctx context.Context, path string, from, to int) (text string, ok bool, err error)
	// ReadText returns a whole text file as the user sees it, at most
	// Limits.FileBytes, with what a later WriteText needs to know.
	ReadText(ctx context.Context, path string) (Text, error)
	// WriteText replaces a file's text or creates it, parents included, once:
	// through the editor when it offers that, else atomically on disk (R155,
	// P2). before is what ReadText returned, nil for "whatever is there"; when
	// the file is no longer that, nothing is written and the error is ErrChanged.
	WriteText(ctx context.Context, path, text string, before *Text) error
	// Remove deletes a regular file, or a link and never what it leads to; never
	// a directory. It is not asked of the editor, which offers no such thing.
	// before is as for WriteText.
	Remove(ctx context.Context, path string, before *Text) error
	// Rename moves a regular file with its bytes and mode, and makes the parents
	// of its new name; it refuses a name that is taken, and a file that has
	// unsaved work in the editor.
	Rename(ctx context.Context, from, to string) error
	// Apply makes several changes as one (R97): all are got ready before the first
	// is made, and when one fails those of the disk are taken back. What was handed
	// to the editor by then is for Changes.Rollback, and so is a change of which the
	// error says that it could not be taken back. The caller holds the locks.
	Apply(ctx context.Context, changes []FileChange) error
	// Lock serialises read-change-write of one file, with other agent processes of
	// the user too (R40).
	Lock(ctx context.Context, path string) (unlock func(), err error)
	// Dir opens a directory for searching.
	Dir(ctx context.Context, path string) (search.Dir, error)
	// Secret reports whether a path names a secret (R30), as requested or as
	// resolved.
	Secret(path string) bool
	// SecretName is Secret by the text of an absolute path alone, for names that
	// are known to be no links, such as those of a search that follows none.
	SecretName(path string) bool
	// HoldsAddress reports whether the text of an absolute path is that of a file in which git
	// keeps addresses of remotes, and one of them now holds a user and password. Results show
	// whole lines of it without those; a search or a part of it would tell them all the same.
	HoldsAddress(path string) bool
	// Hidden reports whether a rule forbids the call to read a path, by the text
	// of the absolute path alone: for calls that come by many files and pass over
	// those. One that names a file has been judged by the rules before.
	Hidden(path string) bool
}

// FileChange is one change of FS.Apply: a text, a new name, both, or the end of the
// file.
type FileChange struct {
	// Path names the file, To its new name; empty when it keeps the old one.
	Path, To string
	// Text is what it is to hold; nil when it keeps its text.
	Text *string
	// Delete removes it.
	Delete bool
	// Before is as for WriteText.
	Before *Text
}

// FileInfo describes a file.
type FileInfo struct {
	// Path is absolute; Real is symlink-resolved.
	Path, Real string
	Size       int64
	Mode       fs.FileMode
	ModTime    time.Time
	IsDir      bool
}

// DirEntry is one name in a directory.
type DirEntry struct {
	Name string
	// IsDir is true for directories and for links to them (R27).
	IsDir bool
}

// File is an open regular file.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Text is a file's text at one moment.
type Text struct {
	Content string
	// FromEditor says that the editor gave it.
	FromEditor bool
	// Exists is false for a file that is not there; Content is then "".
	Exists bool
}

// Processes runs commands.
type Processes interface {
	// Run runs one command and returns when it has exited and its output is
	// drained, or at once when ctx ends: the process tree is then being killed
	// behind the answer and its further output dropped (R58). A command that
	// cannot be started is an error; a non-zero exit is not (R55).
	Run(ctx context.Context, cmd ShellCommand, output io.Writer) (Exit, error)
	// Exec runs one program by its arguments, with no shell between (C10), under
	// the same rules as Run. A program that is not found is an *Error of kind
	// Unavailable that names it.
	Exec(ctx context.Context, p Program, output io.Writer) (Exit, error)
}

// Program is a program and its arguments.
type Program struct {
	// Args begin with the program: a name to be found on the PATH of the
	// session's commands, or an absolute path.
	Args []string
	// Dir is absolute.
	Dir string
	// Env are variables, as NAME=value, beside the session's own.
	Env []string
	// Stdin is what the program reads.
	Stdin []byte
	// Caches says whose caches of packages and builds the program has, of those in the
	// project; "" means those of its commands.
	Caches string
	// Stderr gets the program's errors; nil means that they go where its output
	// goes.
	Stderr io.Writer
}

// ShellCommand is a command line for the session's shell.
type ShellCommand struct {
	Text string
	// Dir is absolute.
	Dir string
	// Limit is how long it may run; 0 is without end. While the user is asked about
	// something that the command waits for, its time stands still. A command that is ended
	// by it has ErrCommandTime as its error.
	Limit time.Duration
}

// ErrCommandTime is the error of a command whose time was over.
var ErrCommandTime = errors.New("command time limit reached")

// Exit says how a command ended.
type Exit struct {
	Code int
	// Signal is the name of the signal that ended it, or "".
	Signal string
	// Notes say in one line each what was done about the command besides running it,
	// such as a file that was put back.
	Notes []string
}

// Clock is time as tools see it.
type Clock interface {
	Now() time.Time
}

// Sidecar is a file for the whole of a result that is returned cut.
type Sidecar interface {
	io.WriteCloser
	// Path is absolute and inside the session's read scope.
	Path() string
	// Dropped is the number of bytes that the quota refused.
	Dropped() int64
}

// Asker puts a permission request to the user. Implementations answer
// Cancelled, or an error, when they cannot; they never invent a yes.
type Asker interface {
	Ask(ctx context.Context, req PermissionRequest) (Answer, error)
}

// PermissionRequest is what the user is asked (R152, O1).
type PermissionRequest struct {
	CallID string
	// Name is what the model called the tool.
	Name string
	// Ready is the call as it will run, with its preview in the card.
	Ready transcript.ToolReady
	// Reason says why it is asked, in one line.
	Reason string
	// Remember says what "always" would store, in one line; empty means that
	// nothing may be stored, and "always" is not offered.
	Remember string
	// Project says that the same may be stored for the project as well.
	Project bool
	// Agents are the names from below the main agent down to the subagent that asks;
	// none when the main agent does (R73).
	Agents []string
	// Choices, when set, names the only two answers, AllowOnce and RejectOnce, of a
	// decision that is about no call, such as trust in a project.
	Choices *Choices
	// NoAlways says why it is not offered, as the end of a sentence.
	NoAlways string
	// Sandbox says what the call's commands are confined by, and whether they have
	// the network; empty for a call that runs none.
	Sandbox string
}

// Choices names the two answers of such a decision.
type Choices struct {
	// Question says in one line what accepting means, for clients that show the answers
	// without their names.
	Question      string
	Allow, Reject string
}

// Answer is a user's answer to a PermissionRequest (R123).
type Answer int

// The answers. The zero value refuses.
const (
	RejectOnce Answer = iota
	RejectAlways
	AllowOnce
	AllowAlways
	// AllowProject is AllowAlways for all sessions in this project.
	AllowProject
	Cancelled
)
