package command

import (
	"acp-agent/internal/shell"
)

// MaxDepth bounds how deep commands nest; a deeper text is denied (C8).
const MaxDepth = 50

// MaxScript bounds a file with the script of a command that is judged, in bytes.
const MaxScript = 64 << 10

// Env is what a verdict depends on besides the text. Every function may be nil.
type Env struct {
	// The directories of the session, and where a path leads.

	Cwd   string   // absolute working directory of the command
	Roots []string // absolute workspace and additional roots
	Home  string   // absolute; empty: "~" is not known
	// Own lists the absolute directories of the agent itself, see permissions.Call.Own.
	Own []string
	// Inside follows the links of an absolute path (of one that does not exist, those of its deepest
	// existing parent) and reports whether it lies inside the roots. Nil: Roots and the text of the
	// path decide, for a host without a disk.
	Inside func(path string) (resolved string, ok bool)
	// Shown reports an absolute path outside the roots at which a command in the sandbox finds nothing
	// of the user's: a directory of the system, or a /tmp of its own. Nil: no path is one.
	Shown func(path string) bool

	// Secrets, and addresses with a user and password.

	// Secret reports a path that must not be read. Nil: permissions.Secret.
	Secret func(path string) bool
	// HoldsSecret reports whether a secret file lies anywhere beneath a directory, for commands that
	// read whole trees (grep -r). With reads, only files count whose base name reads accepts. Nil:
	// such commands ask.
	HoldsSecret func(dir string, reads func(name string) bool) bool
	// HoldsAddress reports the absolute path of a file in which git keeps an address with a user and
	// password. Results leave those out, but not where a command prints the file in another form, so
	// reading it asks. Nil: no file is one.
	HoldsAddress func(path string) bool

	// What lies on the disk.

	// Regular reports the absolute path of an existing regular file, for commands that read all of a
	// directory (diff). Nil: such commands ask.
	Regular func(path string) bool
	// Waits reports the absolute path of an existing pipe, socket or device, links followed: reading
	// it may never end. Nil: no path is one.
	Waits func(path string) bool
	// List returns the names in a directory inside the roots, links followed. It returns
	// fs.ErrNotExist for a directory that does not exist, and another error where that cannot be known.
	// A caller that sets List runs Verdict.Run, where it is set, instead of the text. Nil: no
	// expansion is written out.
	List func(dir string) (names []string, err error)
	// Script returns the text of a regular file inside the roots, given its absolute path, that holds the
	// script of a command; ok is false where it cannot be read, or is larger than MaxScript. Nil: such
	// commands ask.
	Script func(path string) (text string, ok bool)

	// Git: its configuration, and what its history and its index hold.

	// GitPrograms reports whether the configuration of the repository that git would find from an
	// absolute directory cannot be understood, or names programs (see GitConfigPrograms) that GitEnv
	// cannot switch off. Git then asks (C9). Nil: no repository has such a configuration.
	GitPrograms func(dir string) bool
	// GitHoldsAddress reports whether git keeps an address with a user and password in the configuration
	// of the repository that it would find from an absolute directory. Nil: it does not hold one.
	GitHoldsAddress func(dir string) bool
	// GitHoldsSecret reports whether a file that git tracks, in the repository that it would find from
	// an absolute directory, has the name of a secret or lies outside the roots. Nil: one does.
	GitHoldsSecret func(dir string) bool
	// GitNames returns the absolute paths of the files whose content a git command would print in an
	// absolute directory. words are those of the command from its subcommand on. A command that git
	// would refuse prints none. ok is false where that cannot be found out. Nil: it never can.
	GitNames func(dir string, words []string) (names []string, ok bool)
	// GitHistory returns the absolute paths of all files that the commits, stashes and the index of the
	// repository hold or held which git would find from an absolute directory; none where there is no
	// repository. ok is false where that cannot be found out. Nil: it never can.
	GitHistory func(dir string) (names []string, ok bool)

	// The sandbox, the host and its programs.

	// Reading reports whether a command that is allowed runs in a read-only sandbox: one in which it
	// changes nothing, has no network and sees no file of secrets. Nil: it does not.
	Reading func() bool
	// ByHost reports whether a command in the sandbox reaches no host that the user was not asked
	// about. Nil: the sandbox has no network, or all of it.
	ByHost func() bool
	// Machine reports whether a command of nothing but programs that show the machine, or read no
	// file, runs where it sees the processes and sockets of the machine. Nil: it does not.
	Machine func() bool
	// Program returns the path of a program on the PATH of a command that only reads. That PATH has no
	// directory of the project. Nil: no program is found.
	Program func(name string) (path string, ok bool)

	// The project and the shell.

	// Untrusted says that the user does not trust the project yet. Programs that read executable
	// configuration even to print their version then ask (T2).
	Untrusted bool
	Dialect   shell.Dialect
	// Encoding is the encoding in which the shell will read the text; the zero value is a strict one.
	Encoding shell.Encoding
}
