package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// changesShell lists the commands after which a variable, a glob or a name may mean something else.
const changesShell = "unset read eval source . mapfile readarray getopts let set shopt exec trap alias unalias enable builtin hash local popd pushd coproc bind complete"

// call expands the words of a simple command and takes its harmless assignments out of the text.
func (e *expander) call(c *syntax.CallExpr, x expansion) expansions {
	if len(c.Args) == 0 {
		return bothWays(e.assign(c, c.Assigns, x))
	}
	for i, a := range c.Assigns {
		next := c.Args[0].Pos()
		if i+1 < len(c.Assigns) {
			next = c.Assigns[i+1].Pos()
		}
		value, ok := e.assigned(a, x)
		if !ok || !e.setting(a.Name.Value, value) {
			e.stop()
			return bothWays(x)
		}
		e.edits = append(e.edits, edit{int(a.Pos().Offset()), int(next.Offset()), ""})
	}
	var argv []string
	for _, w := range c.Args {
		argv = append(argv, e.word(w, x)...)
	}
	if e.failed || len(argv) == 0 {
		e.stop()
		return bothWays(x)
	}
	switch name := argv[0]; {
	case name == "printf" && len(argv) > 1 && strings.HasPrefix(argv[1], "-"), // which may set a variable
		name == "command" && (len(argv) != 3 || argv[1] != "-v"):
		e.stop()
	case hasWord(changesShell, name):
		e.stop()
	case name == "cd":
		return e.cd(argv, x)
	case name == "rg":
		e.rg(c, argv)
	case name == "lsof":
		e.lsof(c, argv)
	}
	return bothWays(x)
}

// cd follows a change of the directory as the judge does.
func (e *expander) cd(argv []string, x expansion) expansions {
	lost := flow{ok: dirs{unknown: true}, fail: x.at}
	if len(argv) == 2 && !strings.HasPrefix(argv[1], "-") {
		lost = e.moved(word{value: argv[1], static: true}, x.at, lost)
	}
	return expansions{expansion{lost.ok, x.vars}, expansion{lost.fail, x.vars}}
}

// assign notes the variables that a statement sets, and replaces it by ":". No listed program uses
// these variables.
func (e *expander) assign(node syntax.Node, list []*syntax.Assign, x expansion) expansion {
	for _, a := range list {
		value, ok := e.assigned(a, x)
		switch {
		case !ok:
			e.stop()
			return x
		case ordinaryVariable(a.Name.Value):
			x = x.with(a.Name.Value, value)
		case e.setting(a.Name.Value, value):
		default:
			e.stop()
			return x
		}
	}
	e.replace(node, ":")
	return x
}

// declaration follows "export NAME=value" of harmless names.
func (e *expander) declaration(c *syntax.DeclClause, x expansion) expansions {
	if c.Variant.Value != "export" || len(c.Args) == 0 {
		e.stop()
		return bothWays(x)
	}
	return bothWays(e.assign(c, c.Args, x))
}

// assigned returns the value of a plain assignment, NAME=value, if it is known.
func (e *expander) assigned(a *syntax.Assign, x expansion) (string, bool) {
	if a.Naked || a.Append || a.Index != nil || a.Array != nil || a.Name == nil {
		return "", false
	}
	if a.Value == nil {
		return "", true
	}
	chars, ok := e.chars(a.Value, x, true)
	if !ok {
		return "", false
	}
	return stringOf(chars), true
}

// quoted returns a text in single quotes for the shell.
func quoted(field string) string {
	return "'" + strings.ReplaceAll(field, "'", `'\''`) + "'"
}

// word expands a word, and notes what replaces it. A word that the shell would not change stays as it
// is written.
func (e *expander) word(w *syntax.Word, x expansion) []string {
	if w == nil || e.failed {
		return nil
	}
	if known, ok := shell.Static(w); ok {
		if known.Tilde {
			if known.Value, ok = shell.ExpandTilde(known.Value, e.env.Home); !ok {
				e.stop()
			}
		}
		return []string{known.Value}
	}
	fields, ok := e.fields(w, x)
	if !ok || len(fields) == 0 || len(fields) > maxFields {
		e.stop()
		return nil
	}
	written := make([]string, len(fields))
	for i, field := range fields {
		written[i] = quoted(field)
	}
	e.replace(w, strings.Join(written, " "))
	return fields
}
