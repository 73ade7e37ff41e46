package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// doubtfulExpansion reports an expansion, at any depth, in which the parser takes for text what bash runs, or ends
// it elsewhere. A command would hide there from all that judges commands:
//
//	[[ a == @($(x)) ]]    the parser does not look into such patterns
//	${a:-<(x)}            nor for this substitution in an operand, or in a group of =~
//	"${a:-'$(x)'}"        in double quotes and here-documents bash knows no single quotes in an operand
//	$(( '$(x)' ))         nor in arithmetic
func doubtfulExpansion(file *syntax.File) bool {
	var above []syntax.Node
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			above = above[:len(above)-1]
			return false
		case *syntax.ExtGlob:
			found = found || strings.ContainsAny(n.Pattern.Value, "`'\"\\") || startsExpansion(n.Pattern.Value)
		case *syntax.Lit:
			found = found || operandOf(above) && substitutesProcess(n.Value)
		case *syntax.SglQuoted:
			found = found || mistakenQuotes(n, above)
		}
		above = append(above, n)
		return true
	})
	return found
}

// startsExpansion reports a text in which something but a plain variable is expanded.
func startsExpansion(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "${") || strings.Contains(text, "$[") || substitutesProcess(text)
}

func substitutesProcess(text string) bool {
	return strings.Contains(text, "<(") || strings.Contains(text, ">(")
}

// operandOf reports that the innermost node but for words is the expansion of a parameter, or compares with a pattern
// of =~.
func operandOf(above []syntax.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *syntax.Word:
		case *syntax.ParamExp:
			return true
		case *syntax.BinaryTest:
			return n.Op == syntax.TsReMatch
		default:
			return false
		}
	}
	return false
}

// mistakenQuotes reports single quotes that are none to bash, around what it would heed.
func mistakenQuotes(quoted *syntax.SglQuoted, above []syntax.Node) bool {
	operand := false
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // where quotes begin anew
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			return true
		case *syntax.ParamExp:
			operand = true
		case *syntax.DblQuoted:
			if operand {
				return strings.ContainsAny(quoted.Value, "$`\"}\\")
			}
		case *syntax.Redirect:
			if operand && n.Hdoc != nil {
				return strings.ContainsAny(quoted.Value, "$`\"}\\")
			}
		}
	}
	return false
}

// endsEarlier reports a here-document, at any depth, that has a line in it which ends it for bash: the parser
// reads on to the end of an expansion that began before that line, and takes the commands after the line for a part of it.
func endsEarlier(text string, file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil {
			end, _ := plainDelimiter(text[r.Word.Pos().Offset():r.Word.End().Offset()])
			// The line at which the parser ends it is the last one, and has no newline here.
			for line := range strings.Lines(text[r.Hdoc.Pos().Offset():r.Hdoc.End().Offset()]) {
				if r.Op == syntax.DashHdoc {
					line = strings.TrimLeft(line, "\t")
				}
				found = found || line == end+"\n"
			}
		}
		return !found
	})
	return found
}
