package command

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/shell"
)

// Bounds of what is expanded at judgement.
const (
	maxFields  = 1000 // words that one word becomes, and values of one loop
	maxListed  = 20_000
	maxRounds  = 1000 // of all loops
	maxNesting = 20
)

// expanded judges a text that asks with everything in it that the shell would expand
// written out as it is now: globs, braces, loops over known lists, and variables that the
// text itself sets. What is allowed then is that other text, and Verdict.Run holds it:
// the shell expands nothing that was judged, so that nothing can come to mean another file
// between judgement and run. A deny of the other text holds, too.
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
	w := judgeText(text, env)
	if w.Action == capability.Ask || w.Action == capability.Allow && v.Validation {
		return v
	}
	w.Text = v.Text
	if w.Action == capability.Allow {
		w.Run = text
		for _, name := range slices.Sorted(maps.Keys(e.settings)) {
			w.Settings = append(w.Settings, name+"="+e.settings[name])
		}
		w.written = v.Parts
	}
	return w
}

// expander walks a program in the order in which it runs and notes what to write in the
// place of what the shell would expand. Whatever it does not follow ends it.
type expander struct {
	*paths
	text     string
	edits    []edit
	settings map[string]string // harmless variables of the environment
	failed   bool
	piped    bool // the input of the command is a pipe
	depth    int
	rounds   int
	listed   int
}

// edit replaces a piece of the text.
type edit struct {
	from, to int
	text     string
}

// expansion is what is known at a point of the program.
type expansion struct {
	at   dirs
	vars map[string]string
}

func (x expansion) with(name, value string) expansion {
	vars := maps.Clone(x.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	vars[name] = value
	return expansion{at: x.at, vars: vars}
}

// merge is what is known where two ways meet: a variable that differs is not.
func (x expansion) merge(y expansion) expansion {
	out := expansion{at: x.at.union(y.at), vars: map[string]string{}}
	for name, value := range x.vars {
		if other, ok := y.vars[name]; ok && other == value {
			out.vars[name] = value
		}
	}
	return out
}

// expansions are what is known after success and after failure.
type expansions struct{ ok, fail expansion }

func always(x expansion) expansions { return expansions{x, x} }

func (x expansions) any() expansion { return x.ok.merge(x.fail) }

// stop ends the expansion: the text is judged as it was written.
func (e *expander) stop() { e.failed = true }

func (e *expander) replace(node syntax.Node, text string) {
	e.edits = append(e.edits, edit{int(node.Pos().Offset()), int(node.End().Offset()), text})
}

// render writes a piece of the text with the edits inside of it.
func (e *expander) render(from, to int) string {
	var b strings.Builder
	at := from
	slices.SortStableFunc(e.edits, func(a, b edit) int { return a.from - b.from })
	for _, edit := range e.edits {
		if edit.from < at || edit.to > to {
			e.stop() // two edits of one place
			return ""
		}
		b.WriteString(e.text[at:edit.from])
		b.WriteString(edit.text)
		at = edit.to
	}
	b.WriteString(e.text[at:to])
	return b.String()
}
