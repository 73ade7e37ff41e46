package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// literalWords reports words without any expansion. Globs count as literal: this is for
// words that the shell does not turn into file names.
func literalWords(words ...*syntax.Word) bool {
	for _, w := range words {
		if w != nil && settled(w).set {
			return false
		}
	}
	return true
}

// settled asks about a program in which anything at all is left to the shell: whatever
// position a word stands in (a pattern of case, an index, the delimiter of a
// here-document), an expansion in it may set a variable or run a program, so that no
// later command means what it says (C2). Kinds of nodes are listed if they are known to
// do nothing of their own; all others ask.
func settled(node syntax.Node) finding {
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
