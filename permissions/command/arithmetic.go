package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// numbers holds the variables of a text that can only be numbers: every assignment gives them a number,
// or the output of a command that counts. In arithmetic with any other variable, the shell runs the
// substitutions in its value.
type numbers map[string]bool

// numbersOf finds the variables that a text sets to nothing but numbers.
func numbersOf(file *syntax.File) numbers {
	known := numbers{}
	set := func(name *syntax.Lit, number bool) {
		if name != nil {
			before, seen := known[name.Value]
			known[name.Value] = number && (before || !seen)
		}
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			set(n.Name, !n.Append && n.Index == nil && n.Array == nil && n.Value != nil && counted(n.Value))
		case *syntax.WordIter:
			number := len(n.Items) > 0
			for _, item := range n.Items {
				number = number && digits(item.Lit())
			}
			set(n.Name, number)
		case *syntax.ParamExp:
			if assignsDefault(n) {
				set(n.Param, false)
			}
		}
		return true
	})
	return known
}

// digits reports a number that the arithmetic of every shell can hold.
func digits(s string) bool { return s != "" && len(s) <= 15 && strings.Trim(s, "0123456789") == "" }

// onlyPart returns the part of a word that has just one, taken out of double quotes. It returns nil for
// any other word.
func onlyPart(w *syntax.Word) syntax.WordPart {
	parts := w.Parts
	if len(parts) == 1 {
		if quoted, ok := parts[0].(*syntax.DblQuoted); ok && !quoted.Dollar {
			parts = quoted.Parts
		}
	}
	if len(parts) != 1 {
		return nil
	}
	return parts[0]
}

// counted reports whether a word is a number, or the output of one command that counts.
func counted(w *syntax.Word) bool {
	switch part := onlyPart(w).(type) {
	case *syntax.Lit:
		return digits(part.Value)
	case *syntax.CmdSubst:
		return len(part.Stmts) == 1 && countsOnly(part.Stmts[0])
	}
	return false
}

// countsOnly reports whether a statement prints one number and nothing else: wc with one count
// of its input, the time in seconds, the number of processors.
func countsOnly(s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		into := r.Word != nil && r.Word.Lit() == "/dev/null" && r.Op == syntax.RdrOut && r.N != nil && r.N.Value == "2"
		if r.Op != syntax.RdrIn && !into {
			return false
		}
	}
	if s.Background || s.Negated || s.Coprocess || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.Pipe:
			return countsOnly(c.Y)
		case syntax.OrStmt:
			return countsOnly(c.X) && countsOnly(c.Y)
		}
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) < 1 {
			return false
		}
		words := make([]string, len(c.Args))
		for i, arg := range c.Args {
			words[i] = arg.Lit()
		}
		switch words[0] {
		case "wc":
			return len(words) == 2 && hasWord("-l -w -c -m", words[1])
		case "echo":
			return len(words) == 2 && digits(words[1])
		case "date":
			return len(words) == 2 && words[1] == "+%s"
		case "nproc":
			return len(words) == 1
		}
	}
	return false
}

// calculates reports whether an arithmetic expression has only numbers, and variables that hold nothing else.
func (known numbers) calculates(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Add, syntax.Sub, syntax.Mul, syntax.Quo, syntax.Rem, syntax.Eql, syntax.Neq, syntax.Lss, syntax.Gtr, syntax.Leq, syntax.Geq:
			return known.calculates(x.X) && known.calculates(x.Y)
		}
	case *syntax.ParenArithm:
		return known.calculates(x.X)
	case *syntax.Word:
		return known.number(x)
	}
	return false
}

// number reports whether a word is a number, or the name or the value of a variable that is one.
func (known numbers) number(w *syntax.Word) bool {
	if digits(w.Lit()) || known[w.Lit()] {
		return true
	}
	p, ok := onlyPart(w).(*syntax.ParamExp)
	return ok && plainValue(p) && known[p.Param.Value]
}
