package command

import (
	"acp-agent/internal/shell"
)

// MaxDepth bounds how deep commands nest; a deeper text is denied (C8).
const MaxDepth = 50

// Env is what a verdict depends on besides the text.
type Env struct {
	Cwd   string   // absolute working directory of the command
	Roots []string // absolute workspace and additional roots
	Home  string   // absolute; empty: "~" is not known
	// Inside resolves an absolute path, links and all (also the deepest existing parent
	// of one that does not exist), and reports whether it lies inside the roots. Nil:
	// judged by the text of the path and Roots alone, for hosts without a disk.
	Inside func(path string) (resolved string, ok bool)
	// Secret reports a path that must not be read. Nil means permissions.Secret.
	Secret func(path string) bool
	// HoldsAddress reports by its absolute path a file in which git keeps an address with a user and password.
	// Results show it without those, which a command that prints it in another form would
	// escape: reading one is asked about. Nil: no file is.
	HoldsAddress func(path string) bool
	// GitHoldsAddress reports the same of the configuration of the repository that git would
	// find from an absolute directory. Nil: it holds none.
	GitHoldsAddress func(dir string) bool
	// HoldsSecret reports whether a secret file lies anywhere beneath a directory, for
	// commands that read whole trees (grep -r); with reads, one whose base name reads
	// accepts. Nil: such commands are asked about.
	HoldsSecret func(dir string, reads func(name string) bool) bool
	// GitHoldsSecret reports whether a file that git tracks, in the repository that it
	// would find from an absolute directory, has the name of a secret or lies outside the
	// roots. Nil: one does.
	GitHoldsSecret func(dir string) bool
	// GitNames returns the absolute paths of the files whose content a git command in an
	// absolute directory would print, which is given by its words from the subcommand on; none of a
	// command that git would refuse. ok is false where that cannot be found out. Nil: it never can.
	GitNames func(dir string, words []string) (names []string, ok bool)
	// Own lists absolute directories of the agent itself, see permissions.Call.Own.
	Own []string
	// Untrusted says that the user does not trust the project yet. Tools that read
	// executable configuration even to print their version are then asked about (T2).
	Untrusted bool
	// GitPrograms reports whether the configuration of the repository that git would
	// find from an absolute directory names programs (see GitConfigPrograms) that GitEnv
	// cannot switch off, or could not be understood; git is then asked about (C9). Nil:
	// no repository does.
	GitPrograms func(dir string) bool
	// Regular reports that an absolute path is an existing regular file and no directory,
	// for commands that read all of a directory (diff). Nil: such commands are asked about.
	Regular func(path string) bool
	// Waits reports that an absolute path is an existing pipe, socket or device, links
	// followed: reading it may never end. Nil: no path is.
	Waits func(path string) bool
	// List returns the names in a directory inside the roots, links followed; an
	// fs.ErrNotExist where there is no such directory, another error where that cannot be
	// known. A caller that sets it runs Verdict.Run instead of the text where Run is set. Nil: what the
	// shell would expand is not expanded here.
	List func(dir string) (names []string, err error)
	// Reading reports whether a sandbox holds a command that is allowed to reading: it changes
	// nothing, has no network, and sees no file of secrets. Nil: none does.
	Reading func() bool
	// Shown reports an absolute path outside the roots at which a command in the sandbox finds
	// nothing of the user's: the system's own directories, and a /tmp of its own. Nil: no path is.
	Shown func(path string) bool
	// ByHost reports whether a command in the sandbox reaches no host that the user has not
	// been asked about. Nil: the sandbox has no network, or all of it.
	ByHost func() bool
	// Program returns the path at which a program is found on the PATH of a command that only reads,
	// which has no directory of the project. Nil: none is.
	Program func(name string) (path string, ok bool)
	// Machine reports whether a command of nothing but programs that show the machine, and such as
	// read no file, runs where it sees the machine's processes and sockets. Nil: it does not.
	Machine func() bool
	Dialect shell.Dialect
}
