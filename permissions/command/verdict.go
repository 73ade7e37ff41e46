package command

import (
	"cmp"
	"path"

	"acp-agent/capability"
	"acp-agent/permissions"
)

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
	// Validation marks a finding that no stored rule lifts.
	Validation bool
	Network    bool // may need the network (S4)
	GitConfig  bool // a command of git that may write the configuration of a repository (S3)
	// Background says that the shell does not wait for it, or that it starts a process that outlives
	// the shell.
	Background bool
	// Reads and Wrote are absolute paths that the part is known to read or change.
	Reads, Wrote []string
	// Always is the prefix of Argv that "always" may store, or all of it when AlwaysExact. Nil: "always"
	// must not be offered (E5).
	Always      []string
	AlwaysExact bool
	// NoAlways says why Always is nil, as the end of a sentence.
	NoAlways string

	redirect       bool
	askedIn        []string // the directories in which git was asked for the files that the command prints
	scriptFile     bool     // allowed for what a file with its script has at the judgement
	anyFile        bool     // may print files that its words do not name, or all files of a tree
	machine        bool     // shows the processes, sockets or state of the machine
	usesVariables  bool     // may run what a variable of the environment names
	notSandboxable string   // see finding
	notReadOnly    string   // see finding
	open           bool     // a wrapper adds words that are only known when it runs
	outer          []string // the command with its wrappers, where they may change what runs
	spellings      []string // other ways to write the command, for deny rules
}

// ReachesOut reports a command whose work is done by a program outside of any sandbox, such as the daemon
// of docker.
func (p Part) ReachesOut() bool { return len(p.Argv) > 0 && reachesOut(path.Base(p.Argv[0])) }

// Verdict is the answer for a whole text: the worst of its parts (C3).
type Verdict struct {
	Text string
	// Run, where it is set, is the text that was judged and must run in the place of Text: Text with its
	// expansions written out as they were at the time of the judgement, or with "--" in front of words
	// that must not be options. Settings are the variables, as NAME=value, that it runs with.
	Run      string
	Settings []string

	Action     capability.Action
	Class      Class
	Reason     string
	Parts      []Part
	Network    bool // some part may need the network
	Validation bool // some part must be asked whatever the rules say
	// Machine says that the text is allowed to show the machine. For that it runs outside of any sandbox,
	// with the programs of the system alone.
	Machine bool
	// GitHub says that a part runs gh, which has to log in. GitHubAlone says that the text is nothing but
	// commands of the gh on the PATH, and programs that only print what they read, all of whose words are
	// known: nothing else of it would have the login.
	GitHub, GitHubAlone bool
	// GitHubInstead names, for the model, commands in the place of one of gh that starts git; "" where none is known.
	GitHubInstead string
	// GitHubHere says that gh pr or gh issue is used without a repository, so that the directory says which one.
	// GitHubElsewhere says that not all of the text's gh is for the repository of the directory that the text begins in.
	GitHubHere, GitHubElsewhere bool
	// HidesObjects says that the text is allowed and may read any file. The sandbox must hide the object
	// database of git from it, which none of its commands needs.
	HidesObjects bool
	// HidesAddresses says that the text is allowed because the sandbox holds it to reading, or may read any file. The
	// sandbox must hide the files in which git keeps an address with a user and password from it.
	HidesAddresses bool
	ToAllow        []string // full command, name of the deciding command, "*"; only for ask

	original []Part // the parts of Text, where Run is set, for rules that deny or ask
}

// Resources returns the verdict as the rules see it: one resource for each command and redirection, and
// one for each path that a command is known to touch, so that a rule about paths holds for commands, too.
func (v Verdict) Resources() []permissions.Resource {
	var out []permissions.Resource
	plain := plainText(cmp.Or(v.Run, v.Text))
	for _, p := range v.original {
		out = append(out, permissions.Resource{
			Kind: permissions.Command, Name: p.name(), Requested: p.spellings, Capability: capability.CapShellRun,
			Judged: &permissions.Judgement{Action: capability.Allow, Reason: expandedReason, Part: p.Text, Plain: plain, NoAlways: noAlwaysPath},
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
		touched := &permissions.Judgement{Action: capability.Allow, Reason: reason, Part: p.Text, Plain: judged.Plain, NoAlways: noAlwaysPath}
		out = append(out, pathResources(p.Reads, capability.CapFSRead, touched)...)
		out = append(out, pathResources(p.Wrote, capability.CapFSWrite, touched)...)
	}
	return out
}

// expandedReason is the reason for a part of the original text, where another text was judged.
const expandedReason = "what the shell would expand in it is known, and the command only reads, inside the workspace"

// noAlwaysPath says why "always" stores no path that a command touches.
const noAlwaysPath = "a file that a command writes is asked about each time"

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

// name returns the canonical text of a command, which patterns are compared with.
func (p Part) name() string {
	if !p.Static || len(p.Argv) == 0 {
		return p.Text
	}
	return permissions.QuoteArgs(p.Argv)
}
