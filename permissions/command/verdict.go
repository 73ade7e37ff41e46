package command

import (
	"cmp"
	"path"

	"acp-agent/capability"
	"acp-agent/internal/shell"
	"acp-agent/permissions"
)

// Class names the kind of finding behind a verdict.
type Class string

// The classes that allow or ask.
const (
	ReadOnly    Class = "read-only"   // on the list, with vetted options
	Unlisted    Class = "unlisted"    // not on the list, or an option that is not
	Dynamic     Class = "dynamic"     // not known before it runs
	Writes      Class = "write"       // writes a file
	Outside     Class = "outside"     // touches something outside the roots
	Wrapper     Class = "wrapper"     // runs another command
	Interpreter Class = "interpreter" // runs a program in another language
	Unparsed    Class = "unparsed"    // the parser does not accept the text
	Ambiguous   Class = "ambiguous"   // the shell may read the text differently
	Endless     Class = "endless"     // its own text does not bound its time or its output
	Dangerous   Class = "dangerous"   // one of the findings of R118
)

// The classes that deny.
const (
	Limits     Class = "limits" // too long, too deep, or not text
	DeleteAll  Class = "DN1"    // recursive or forced delete of a root, home, workspace
	RawDevice  Class = "DN2"    // a raw device or a file system
	ForkBomb   Class = "DN3"
	NetToShell Class = "DN4"  // network content into an interpreter
	Privilege  Class = "DN5"  // privilege escalation, setuid, capabilities
	PowerState Class = "DN6"  // power state, kill all, kill the agent
	Exfil      Class = "DN7"  // secrets or the environment over the network
	SecretRead Class = "DN8"  // the set that read refuses
	Persist    Class = "DN9"  // persistence and self-modification
	ReverseSh  Class = "DN10" // reverse shells
	ChmodAll   Class = "DN11" // recursive chmod or chown of a root or home
)

// The sentences of R118, given literally.
const (
	ReasonTraversal = "Path traversal detected"
	ReasonDangerous = "Potentially dangerous command"
	ReasonRedirect  = "Output redirection to sensitive location"
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

// Part is one simple command or one redirection of the program.
type Part struct {
	Text string // as written
	// Argv holds the words of a command after its wrappers; a word that is not static
	// is given as written. Empty for a redirection.
	Argv   []string
	Static bool // every word is known before it runs
	Action capability.Action
	Class  Class
	Reason string // one plain sentence
	// Validation marks a finding of R118 that no stored rule lifts.
	Validation bool
	Network    bool // may need the network (S4)
	// Background says that the shell does not wait for it, or that it starts a process that outlives it.
	Background bool
	// Reads and Wrote are absolute paths that the part is known to read or change.
	Reads, Wrote []string
	// Always is the argv prefix that "always" may store, exactly when AlwaysExact; nil
	// when it must not be offered (E5).
	Always      []string
	AlwaysExact bool
	// NoAlways says why Always is nil, as the end of a sentence.
	NoAlways string

	redirect bool
	// anyFile says that it may print files that its words do not name, or all files of a tree.
	anyFile        bool
	machine        bool // shows what the machine does
	notSandboxable string
	notReading     string
	// open says that a wrapper adds words that are only known when it runs.
	open bool
	// outer is the command with its wrappers when they change what runs.
	outer []string
	// spellings are further texts of the command, for deny rules.
	spellings []string
}

// ReachesOut reports whether a program outside of any sandbox, such as the daemon of containers, does the
// work of the command.
func (p Part) ReachesOut() bool { return len(p.Argv) > 0 && reachesOut(path.Base(p.Argv[0])) }

// Verdict is the answer for a whole text: the worst of its parts (C3).
type Verdict struct {
	Text string
	// Run, where it is set, is the text that was judged and must run in the place of Text:
	// Text with everything written out that the shell would expand in it, as it was at the
	// time of the judgement, or with "--" before words that must not be options. Settings are the variables, as NAME=value, that it runs with.
	Run        string
	Settings   []string
	Action     capability.Action
	Class      Class
	Reason     string
	Parts      []Part
	Network    bool // some part may need the network
	Validation bool // some part must be asked whatever the rules say
	// Machine says that the text is allowed to show the machine, and runs outside of any sandbox
	// for that, with the programs of the system alone.
	Machine bool
	// HidesObjects says that the text is allowed and may read files that are only known when it runs:
	// what git keeps of the content of files must be hidden from it, which none of its commands needs.
	HidesObjects bool
	ToAllow      []string // full command, name of the deciding command, "*"; only for ask

	written []Part // the parts of Text where Run is set, for rules that deny or ask
}

// Resources returns the verdict as the rules see it: one resource for each command and
// redirection, and one for each path that a command is known to touch, so that a rule
// about paths holds for commands too.
func (v Verdict) Resources() []permissions.Resource {
	var out []permissions.Resource
	plain := plainText(cmp.Or(v.Run, v.Text))
	for _, p := range v.written {
		out = append(out, permissions.Resource{
			Kind: permissions.Command, Name: p.name(), Requested: p.spellings, Capability: capability.CapShellRun,
			Judged: &permissions.Judgement{Action: capability.Allow, Reason: expandedReason, Part: p.Text, Plain: plain, NoAlways: noPath},
		})
	}
	for _, p := range v.Parts {
		reason := p.Reason
		if reason == "" {
			reason = "the command only reads, inside the workspace"
		}
		judged := &permissions.Judgement{
			Action: p.Action, Reason: reason, Part: p.Text, Validation: p.Validation,
			Always: p.Always, AlwaysExact: p.AlwaysExact, NoAlways: p.NoAlways, Sandboxable: p.Sandboxable(), NotSandboxable: p.whyNotSandboxable(),
			Network: p.Network, Background: p.Background, Open: !p.Static || p.open, Plain: plain && p.plain(),
		}
		if p.redirect {
			out = append(out, redirectResources(p, judged)...)
			continue
		}
		out = append(out, permissions.Resource{
			Kind: permissions.Command, Name: p.name(), Requested: p.spellings,
			Capability: capability.CapShellRun, Dynamic: !p.Static, Judged: judged,
		})
		if len(p.outer) > 0 {
			out = append(out, permissions.Resource{
				Kind: permissions.Command, Name: permissions.QuoteArgs(p.outer),
				Capability: capability.CapShellRun, Dynamic: !p.Static, Judged: judged,
			})
		}
		touched := &permissions.Judgement{Action: capability.Allow, Reason: reason, Part: p.Text, Plain: judged.Plain, NoAlways: noPath}
		out = append(out, pathResources(p.Reads, capability.CapFSRead, touched)...)
		out = append(out, pathResources(p.Wrote, capability.CapFSWrite, touched)...)
	}
	return out
}

// expandedReason is the reason for a part as it was written, when its expansion was judged.
const expandedReason = "what the shell would expand in it is known, and the command only reads, inside the workspace"

// noPath is why "always" stores no path that a command touches.
const noPath = "a file that a command writes is asked about each time"

func redirectResources(p Part, judged *permissions.Judgement) []permissions.Resource {
	out := pathResources(p.Reads, capability.CapFSRead, judged)
	out = append(out, pathResources(p.Wrote, capability.CapFSWrite, judged)...)
	if len(out) == 0 {
		out = append(out, permissions.Resource{
			Kind: permissions.Command, Name: p.Text, Dynamic: true,
			Capability: capability.CapShellRun, Judged: judged,
		})
	}
	return out
}

func pathResources(paths []string, capName string, judged *permissions.Judgement) []permissions.Resource {
	var out []permissions.Resource
	for _, name := range paths {
		out = append(out, permissions.Resource{
			Kind: permissions.Path, Name: name, Capability: capName, Judged: judged,
		})
	}
	return out
}

// name is the canonical text that patterns are compared with.
func (p Part) name() string {
	if !p.Static || len(p.Argv) == 0 {
		return p.Text
	}
	return permissions.QuoteArgs(p.Argv)
}
