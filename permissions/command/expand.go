package command

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/shell"
)

// Bounds of what is expanded.
const (
	maxFields  = 1000   // words that one word becomes, and values of one loop
	maxListed  = 20_000 // names in all directories that globs list
	maxRounds  = 1000   // of all loops together
	maxNesting = 20     // of statements
)

// expanded judges a text that asks once more with its expansions written out as they are now: globs,
// braces, loops over known lists, and variables that the text itself sets. What it allows is the other
// text, which Verdict.Run holds. That one expands nothing, so that no name in it can come to mean
// another file between the judgement and the run. A deny of the other text counts, too.
func expanded(v Verdict, file *syntax.File, env Env) Verdict {
	if v.Action != capability.Ask || env.List == nil {
		return v
	}
	e := &expander{paths: newPaths(env), text: v.Text, settings: map[string]string{}}
	e.statements(file.Stmts, expansion{at: e.start()})
	if e.failed || len(e.edits) == 0 {
		return v
	}
	text := e.render(0, len(v.Text))
	if shell.CheckText(text) != nil {
		return v
	}
	w, _ := judgeFile(text, env)
	if w.Action == capability.Ask || w.Action == capability.Allow && v.Validation {
		return v
	}
	w.Text = v.Text
	if w.Action == capability.Allow {
		w.Run = text
		for _, name := range slices.Sorted(maps.Keys(e.settings)) {
			w.Settings = append(w.Settings, name+"="+e.settings[name])
		}
		w.original = v.Parts
	}
	return w
}

// expander walks a text in the order in which it runs, and notes what replaces each expansion. It gives
// up at the first construct that it cannot follow.
type expander struct {
	*paths
	text     string
	edits    []edit
	settings map[string]string // harmless variables of the environment, see setting
	failed   bool
	piped    bool // the input of the command is a pipe
	depth    int  // see maxNesting
	rounds   int  // see maxRounds
	listed   int  // see maxListed
}

// edit replaces a piece of the text.
type edit struct {
	from, to int
	text     string
}

// expansion is what is known at one point of the text.
type expansion struct {
	at   dirs
	vars map[string]string
}

// with returns what is known after an assignment.
func (x expansion) with(name, value string) expansion {
	vars := maps.Clone(x.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	vars[name] = value
	return expansion{at: x.at, vars: vars}
}

// merge returns what is known where two branches meet: no variable that they set differently.
func (x expansion) merge(y expansion) expansion {
	out := expansion{at: x.at.union(y.at), vars: map[string]string{}}
	for name, value := range x.vars {
		if other, ok := y.vars[name]; ok && other == value {
			out.vars[name] = value
		}
	}
	return out
}

// expansions is what is known after a statement succeeded and after it failed.
type expansions struct{ ok, fail expansion }

// bothWays returns the same knowledge for success and failure.
func bothWays(x expansion) expansions { return expansions{x, x} }

func (x expansions) any() expansion { return x.ok.merge(x.fail) }

// stop gives up: the verdict on the text as it is written stands.
func (e *expander) stop() { e.failed = true }

// replace notes what to write in the place of a node.
func (e *expander) replace(node syntax.Node, text string) {
	e.edits = append(e.edits, edit{int(node.Pos().Offset()), int(node.End().Offset()), text})
}

// render returns a piece of the text with the edits in it applied.
func (e *expander) render(from, to int) string {
	var b strings.Builder
	at := from
	slices.SortStableFunc(e.edits, func(a, b edit) int { return a.from - b.from })
	for _, edit := range e.edits {
		if edit.from < at || edit.to > to {
			e.stop() // two edits overlap
			return ""
		}
		b.WriteString(e.text[at:edit.from])
		b.WriteString(edit.text)
		at = edit.to
	}
	b.WriteString(e.text[at:to])
	return b.String()
}
