package permissions

import (
	"strings"

	"acp-agent/capability"
)

// Kind says what a resource is, and so how a pattern is compared with it.
type Kind uint8

// The kinds of resources.
const (
	None    Kind = iota // the call as a whole; only match-all patterns match it
	Path                // an absolute path
	Command             // one simple command of a shell program
	Host                // a host name or address
	Program             // a program that a tool starts, under the name that rules use
)

// Resource is one thing that a call touches.
type Resource struct {
	Kind Kind
	// Name is what is really touched: the resolved absolute path, the canonical text of
	// the command (see QuoteArgs), the host. Allow rules are compared with Name alone,
	// exactly.
	Name string
	// Requested holds further names of the same thing: the path as the model wrote it,
	// the command under its base name. Deny and ask rules are compared with these too.
	Requested []string
	// Capability is the capability under which it is touched. Empty means all those
	// of the call that suit the kind.
	Capability string
	// Also names further tools whose rules hold for this resource too: the stricter
	// answer counts. A patch that deletes a file is bound by delete_file's rules.
	Also []string
	// Dynamic marks a command whose words are not all known before it runs. Only a
	// match-all pattern can allow it.
	Dynamic bool
	// Judged is the verdict of the command judge on this part; nil for other tools.
	Judged *Judgement
}

// Judgement is what the command judge found about one part of a shell program. It
// stands in for the default row of the tool, and its deny is final.
type Judgement struct {
	Action capability.Action
	Reason string
	// Part is the piece of the program that was judged, as it was written.
	Part string
	// Validation marks a finding that no stored rule lifts: at least ask (R118).
	Validation bool
	// Always is the argv prefix that "always allow" may store; nil forbids it (E5). With
	// AlwaysExact it is the whole command line, and no further argument is allowed.
	Always      []string
	AlwaysExact bool
	// Network says that the part may need the network (S4).
	Network bool
	// Background says that the part is not waited for, or starts what outlives it.
	Background bool
	// Open says that not all words of the part are known before it runs, so that a rule about
	// some commands could not be held against it.
	Open bool
	// Sandboxable says, of an ask, that nothing speaks against the part but that it is not
	// known to only read, and that a sandbox holds what it may do: a default row for InSandbox
	// allows it.
	Sandboxable bool
	// NotSandboxable says why not, where it is asked; empty where that is not a question.
	NotSandboxable string
	// Plain says, of an allow, that the part is on the short list of commands that run
	// without a question where nothing confines them (R119).
	Plain bool
	// NoAlways says why Always is nil, as the end of a sentence; empty: no more is known.
	NoAlways string
}

// Call is a tool call as the rules see it, after aliases, preprocessing and resolution.
type Call struct {
	Tool string // canonical id; MCP tools as "mcp__server__tool" or "mcp:server:tool"
	// Aliases are other names of the tool: a rule written for one of them holds too.
	Aliases []string
	// Identity is what a tool from elsewhere is at this moment; zero for the agent's own.
	Identity Identity
	// UntrustedName says that the source of the tool has chosen its name: the allows of the
	// user's own configuration that use the name do not mean it.
	UntrustedName bool
	// AssumedCapabilities are the capabilities that the program or address behind the tool may use,
	// whatever the tool declares: a deny of the whole of one holds for the call (M3).
	AssumedCapabilities []string
	Capabilities        []string // what the tool declares, see capability.CapFSRead and others
	Resources           []Resource
	// Vars resolves "{workspace}" and the like in patterns. Relative path patterns are
	// taken from each workspace root.
	Vars capability.Vars
	// Home replaces a leading "~" in path patterns; empty: such patterns match nothing.
	Home string
	// Own lists absolute directories that hold the agent's configuration, store and
	// state: no tool may write there.
	Own []string
	// Secret reports whether a path holds secrets; nil means the function Secret.
	Secret func(path string) bool
	// Text is the whole command line, for the first choice of Decision.ToAllow.
	Text string
}

// Variables of Call.Vars beside those of capability.
const (
	VarScratch = "scratch" // the session's own scratch directories
	// VarGrantedHosts holds the hosts that a user named, that a search of this session
	// returned, or that the user's configuration lists.
	VarGrantedHosts = "granted-hosts"
)

func (c Call) secret(path string) bool {
	if c.Secret == nil {
		return Secret(path)
	}
	return c.Secret(path)
}

// pair is a resource under one capability: an allow must hold for each pair.
type pair struct {
	Resource
	capability string
}

// pairs spreads the call over its resources and capabilities. Every capability that no
// resource stands for is judged as well, with the call as a whole.
func (c Call) pairs() []pair {
	var out []pair
	covered := map[string]bool{}
	add := func(r Resource, name string) {
		covered[name] = true
		out = append(out, pair{Resource: r, capability: name})
	}
	for _, r := range c.Resources {
		if r.Capability != "" {
			add(r, r.Capability)
			continue
		}
		found := false
		for _, name := range c.Capabilities {
			if suits(name, r.Kind) {
				add(r, name)
				found = true
			}
		}
		if !found {
			for _, name := range allOf(r.Kind) {
				add(r, name)
			}
		}
	}
	for _, name := range c.Capabilities {
		if !covered[name] {
			add(Resource{Judged: c.wholeJudgement()}, name)
		}
	}
	if len(out) == 0 {
		add(Resource{}, "")
	}
	return out
}

// wholeJudgement lets a judged call be as free under a declared capability that none
// of its parts touches as its parts are together.
func (c Call) wholeJudgement() *Judgement {
	var worst *Judgement
	for _, r := range c.Resources {
		if r.Judged != nil && (worst == nil || r.Judged.stricter(worst)) {
			worst = r.Judged
		}
	}
	return worst
}

// stricter reports whether j binds more than other; of two asks the one that no sandbox
// answers does.
func (j *Judgement) stricter(other *Judgement) bool {
	return j.Action.Stricter(other.Action) || j.Action == other.Action && !j.Sandboxable && other.Sandboxable
}

// allOf returns the capabilities under which a resource must be judged when the call
// declares none that suits it.
func allOf(kind Kind) []string {
	switch kind {
	case Path:
		return []string{capability.CapFSRead, capability.CapFSWrite}
	case Command, Program:
		return []string{capability.CapShellRun}
	case Host:
		return []string{capability.CapNetFetch}
	default:
		return []string{""}
	}
}

func suits(name string, kind Kind) bool {
	switch kind {
	case Path:
		return strings.HasPrefix(name, "fs.")
	case Command, Program:
		return name == capability.CapShellRun
	case Host:
		return name == capability.CapNetFetch
	default:
		return true
	}
}

// names returns the tool's names for rules: its id, its MCP form, its aliases.
func (c Call) names() []string {
	names := append([]string{c.Tool}, c.Aliases...)
	if rest, ok := strings.CutPrefix(c.Tool, "mcp__"); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok {
			names = append(names, "mcp:"+server+":"+tool)
		}
	}
	return names
}
