package subagent

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
)

const (
	// maxLine bounds the line of an agent in the system prompt, in characters.
	maxLine = 140
	// maxLines bounds how many have one.
	maxLines = 40
)

// Catalog holds the agents of a session. It never changes, and may be used by several
// goroutines.
type Catalog struct {
	entries  []Entry
	byName   map[string]Manifest
	problems []Problem
}

// Entry is an agent as it is listed for people.
type Entry struct {
	Manifest
	// Off says why it is not used; empty when it is.
	Off string
}

// Get returns the agent of a name, hidden ones too. What it holds is not to be changed.
func (c *Catalog) Get(name string) (Manifest, bool) {
	m, ok := c.byName[name]
	return m, ok
}

// Names lists the agents that work can be given to (R63): their mode is subagent or all,
// and they are not hidden. The shipped ones come first.
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
		if e.Off == "" && e.Mode != Primary && !e.Hidden {
			list = append(list, e.Manifest)
		}
	}
	return list
}

// Entries lists all agents that were found, also those that are not used.
func (c *Catalog) Entries() []Entry { return slices.Clone(c.entries) }

// Prompt is the part of the system prompt that tells the model which agents there are:
// a line of introduction and "- name: description" for each of the first 40. It is ""
// when there are none.
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

// Warnings lists what of the manifests, and of the settings for agents, cannot be used
// or has no effect. A Problem that is no Warning kept an agent out.
func (c *Catalog) Warnings() []Problem { return slices.Clone(c.problems) }

// maxProblems bounds what a hostile folder can make a person read.
const maxProblems = 100

func (c *Catalog) say(problems ...Problem) {
	for _, p := range problems {
		switch {
		case len(c.problems) < maxProblems-1:
			c.problems = append(c.problems, p)
		case len(c.problems) == maxProblems-1:
			c.problems = append(c.problems, problem(p.File, 0, "this and further problems are not listed"))
		}
	}
}
