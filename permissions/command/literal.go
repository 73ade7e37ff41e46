package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// literalWords reports whether words have no expansion. Globs count as literal: this is for
// words that the shell does not turn into file names.
func literalWords(words ...*syntax.Word) bool {
	for _, w := range words {
		if w != nil && expansionsIn(w).set {
			return false
		}
	}
	return true
}

// expansionsIn asks about a program in which the shell expands anything at all: whatever
// position a word has (a pattern of case, an index, the delimiter of a
// here-document), an expansion in it may set a variable or run a program, so that no
// later command does what its text says (C2). The kinds of nodes that are listed are known to
// expand nothing themselves; all others ask.
func expansionsIn(node syntax.Node) finding {
	var f finding
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Comment, *syntax.Stmt, *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell,
			*syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause, *syntax.Redirect, *syntax.Word, *syntax.Lit:
		case *syntax.SglQuoted:
			// $'…' is evaluated with its word.
		case *syntax.DblQuoted:
			if n.Dollar {
				f = asks(Dynamic, "a translated string is only known when it runs")
			}
		default:
			f = asks(Dynamic, "a part of the command is only known when it runs")
		}
		return !f.set
	})
	return f
}
