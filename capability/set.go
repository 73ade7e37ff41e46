package capability

import "slices"

// The names of the capabilities that tools declare and rules may name (R3, R114).
const (
	CapFSRead   = "fs.read"
	CapFSWrite  = "fs.write"
	CapShellRun = "shell.run"
	CapNetFetch = "net.fetch"
)

// Names lists them.
func Names() []string { return []string{CapFSRead, CapFSWrite, CapShellRun, CapNetFetch} }

// RequirementSet is what a tool or a manifest needs of its host (R110). The zero
// value needs nothing and grants nothing.
type RequirementSet struct {
	FS    FS         `json:"fs,omitzero"`
	Net   Net        `json:"net,omitzero"`
	Shell []ShellRun `json:"shell,omitempty"`
	// Capabilities names anything that the fields above do not cover.
	Capabilities []string `json:"capabilities,omitempty"`
}

// FS lists path patterns: globs, relative to the workspace root or beginning with a
// variable. A pattern without a glob character means that path and all beneath it.
type FS struct {
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
}

// IsZero reports whether no path is named; encoding/json asks it.
func (f FS) IsZero() bool { return len(f.Read) == 0 && len(f.Write) == 0 }

// Net lists host patterns: a host name, "*.name" for all names beneath it, or "*".
type Net struct {
	Hosts []string `json:"hosts,omitempty"`
}

// IsZero reports whether no host is named; encoding/json asks it.
func (n Net) IsZero() bool { return len(n.Hosts) == 0 }

// ShellRun is one command that may be started. Nil Args accept any arguments; otherwise
// there must be exactly one argument for each pattern, in order, so an empty list
// accepts the bare command only (R110).
type ShellRun struct {
	Cmd  string       `json:"cmd"`
	Args []ArgPattern `json:"args,omitzero"`
}

// Match reports whether the command line argv, argv[0] being the command, is this run.
func (r ShellRun) Match(argv []string) bool {
	if len(argv) == 0 || r.Cmd == "" || argv[0] != r.Cmd {
		return false
	}
	if r.Args == nil {
		return true
	}
	if len(r.Args) != len(argv)-1 {
		return false
	}
	for i, p := range r.Args {
		if !p.Match(argv[i+1]) {
			return false
		}
	}
	return true
}

func equalRun(a, b ShellRun) bool {
	return a.Cmd == b.Cmd && (a.Args == nil) == (b.Args == nil) && slices.Equal(a.Args, b.Args)
}

// Union returns what either of the sets needs, each entry once and in order of first
// appearance. The arguments are left alone (R112).
func Union(sets ...RequirementSet) RequirementSet {
	var u RequirementSet
	for _, s := range sets {
		u.FS.Read = addMissing(u.FS.Read, s.FS.Read)
		u.FS.Write = addMissing(u.FS.Write, s.FS.Write)
		u.Net.Hosts = addMissing(u.Net.Hosts, s.Net.Hosts)
		u.Capabilities = addMissing(u.Capabilities, s.Capabilities)
		for _, r := range s.Shell {
			if !slices.ContainsFunc(u.Shell, func(have ShellRun) bool { return equalRun(have, r) }) {
				u.Shell = append(u.Shell, ShellRun{Cmd: r.Cmd, Args: slices.Clone(r.Args)})
			}
		}
	}
	return u
}

func addMissing(have, more []string) []string {
	for _, s := range more {
		if !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}
