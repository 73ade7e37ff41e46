package subagent

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
)

const (
	// maxLine bounds the description of an agent in the system prompt, in characters.
	maxLine = 140
	// maxLines bounds how many agents the system prompt lists.
	maxLines = 40
)

// Catalog holds the agents of a session. It is immutable and safe for concurrent use.
type Catalog struct {
	entries  []Entry
	byName   map[string]Manifest
	problems []Problem
}

// Entry is an agent as the user sees it in a list.
type Entry struct {
	Manifest
	// Unused is the reason why the agent is not used; empty when it is used.
	Unused string
}

// Get returns the agent with a name, including hidden ones. The caller must not modify what the
// manifest refers to.
func (c *Catalog) Get(name string) (Manifest, bool) {
	m, ok := c.byName[name]
	return m, ok
}

// Names lists the agents that accept delegated work (R63): their mode is subagent or all, and
// they are not hidden. The shipped ones come first.
func (c *Catalog) Names() []string {
	var names []string
	for _, m := range c.offered() {
		names = append(names, m.Name)
	}
	return names
}

func (c *Catalog) offered() []Manifest {
	var list []Manifest
	for _, e := range c.entries {
		if e.Unused == "" && e.Mode != Primary && !e.Hidden {
			list = append(list, e.Manifest)
		}
	}
	return list
}

// Entries lists all agents that were found, including unused ones.
func (c *Catalog) Entries() []Entry { return slices.Clone(c.entries) }

// Prompt returns the part of the system prompt that lists the agents: a line of introduction
// and "- name: description" for each of the first 40. It is "" without agents.
func (c *Catalog) Prompt() string {
	list := c.offered()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Subagents, for the task tool:\n")
	for _, m := range list[:min(len(list), maxLines)] {
		fmt.Fprintf(&b, "- %s: %s\n", m.Name, kinds.Line(m.Description, maxLine))
	}
	if more := len(list) - maxLines; more > 0 {
		fmt.Fprintf(&b, "(%d more are not listed; the error about an unknown name lists all)\n", more)
	}
	return b.String()
}

// Problems lists what is wrong with the manifests and with the settings for agents. A Problem
// that is not a Warning keeps its agent unused.
func (c *Catalog) Problems() []Problem { return slices.Clone(c.problems) }

// maxProblems bounds how many problems a hostile folder can show the user.
const maxProblems = 100

func (c *Catalog) addProblems(problems ...Problem) {
	for _, p := range problems {
		switch {
		case len(c.problems) < maxProblems-1:
			c.problems = append(c.problems, p)
		case len(c.problems) == maxProblems-1:
			c.problems = append(c.problems, problem(p.File, 0, "this and further problems are not listed"))
		}
	}
}
