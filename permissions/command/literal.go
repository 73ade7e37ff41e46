package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// literalWords reports whether words, or bodies of here-documents, have no expansion. Globs do not count as
// one: literalWords is for words in which the shell expands no file names.
func literalWords(words ...*syntax.Word) bool {
	for _, w := range words {
		if w != nil && expansionsIn(w).set {
			return false
		}
	}
	return true
}

// expansionsIn asks about a program in which the shell expands anything at all. Wherever a word stands
// (a pattern of case, an index, the delimiter of a here-document), an expansion in it may set a
// variable or run a program, and then no later command need do what its text says (C2). The listed
// kinds of nodes expand nothing by themselves. Every other kind asks.
func expansionsIn(node syntax.Node) finding {
	var f finding
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Comment, *syntax.Stmt, *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell,
			*syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause, *syntax.Redirect, *syntax.Word, *syntax.Lit:
		case *syntax.SglQuoted:
			// $'…' is a fixed text, which the evaluation of its word decodes.
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
