package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// errDiffers says that the parser and the plain reader take a text apart differently.
var errDiffers = errors.New("the command could be read in more than one way")

// Differs reports an error of Confirm that says that two readers disagree about a text,
// and not only that one of them does not read it.
func Differs(err error) bool { return errors.Is(err, errDiffers) }

// Confirm reads a text for a second time, with a reader of its own that knows the plain
// language only, and compares: the simple commands, the value of each of their words, the
// operators, keywords and redirections, and where each of them stands. The error says
// that the text is outside the plain language, or that the readings differ, as they are known to for some
// expansions and here-documents that no plain text has; then the tree is not known to be what the shell will run.
func Confirm(text string, file *syntax.File, dialect Dialect, encoding Encoding) error {
	if doubtfulExpansion(file) || endsEarlier(text, file) {
		return errDiffers
	}
	plain, err := readPlain(text, dialect, encoding)
	if err != nil {
		return fmt.Errorf("it is not written plainly enough: %w", err)
	}
	f := &flattener{}
	syntax.Walk(file, f.node)
	slices.SortStableFunc(f.events, func(a, b event) int { return cmp.Compare(a.from, b.from) })
	if f.other || !slices.Equal(plain, f.events) {
		return errDiffers
	}
	return nil
}

// flattener lists the pieces of a syntax tree.
type flattener struct {
	events []event
	other  bool // there is a node that the plain language does not have
}

func (f *flattener) mark(pos syntax.Pos, text string) {
	if pos.IsValid() {
		from := int(pos.Offset())
		f.events = append(f.events, event{kind: eventOperator, from: from, to: from + len(text), value: text})
	}
}

func (f *flattener) word(kind eventKind, w *syntax.Word) {
	value, ok := w.Lit(), true
	if known, static := Static(w); static {
		value = known.Value
	} else {
		ok = value != "" // a glob in a case, or an option of grep
	}
	f.other = f.other || !ok
	f.events = append(f.events, event{kind: kind, from: int(w.Pos().Offset()), to: int(w.End().Offset()), value: value})
}

// node lists one node; what is inside of words and redirections is listed with them.
func (f *flattener) node(n syntax.Node) bool {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Comment:
	case *syntax.Stmt:
		f.statement(n)
	case *syntax.CallExpr:
		f.other = f.other || len(n.Assigns) > 0
		kind := eventCommand
		for _, w := range n.Args {
			f.word(kind, w)
			kind = eventArgument
		}
		return false
	case *syntax.DeclClause:
		f.declaration(n)
		return false
	case *syntax.BinaryCmd:
		f.mark(n.OpPos, n.Op.String())
	case *syntax.Block:
		f.mark(n.Lbrace, "{")
		f.mark(n.Rbrace, "}")
	case *syntax.Subshell:
		f.mark(n.Lparen, "(")
		f.mark(n.Rparen, ")")
	case *syntax.IfClause:
		f.branch(n)
	case *syntax.CaseClause:
		f.mark(n.Case, "case")
		f.word(eventPattern, n.Word)
		f.mark(n.In, "in")
		f.mark(n.Esac, "esac")
	case *syntax.CaseItem:
		for _, w := range n.Patterns {
			f.word(eventPattern, w)
		}
		f.mark(n.OpPos, n.Op.String())
	case *syntax.Redirect:
		f.redirect(n)
		return false
	case *syntax.Word:
		return false
	default:
		f.other = true
		return false
	}
	return true
}

// declaration lists export and its like as the command that it is to the plain reader: its
// assignments are words of it.
func (f *flattener) declaration(n *syntax.DeclClause) {
	f.events = append(f.events, event{kind: eventCommand, from: int(n.Variant.Pos().Offset()), to: int(n.Variant.End().Offset()), value: n.Variant.Value})
	for _, a := range n.Args {
		if a.Append || a.Index != nil || a.Array != nil {
			f.other = true
			return
		}
		text := ""
		if a.Name != nil {
			if text = a.Name.Value; !a.Naked {
				text += "="
			}
		}
		if a.Value != nil {
			known, static := Static(a.Value)
			f.other = f.other || !static
			text += known.Value
		}
		f.events = append(f.events, event{kind: eventArgument, from: int(a.Pos().Offset()), to: int(a.End().Offset()), value: text})
	}
}

func (f *flattener) statement(s *syntax.Stmt) {
	f.other = f.other || s.Coprocess || s.Disown
	if c, ok := s.Cmd.(*syntax.IfClause); ok {
		f.mark(c.Position, "if")
	}
	if s.Negated {
		f.mark(s.Position, "!")
	}
	if s.Background {
		f.mark(s.Semicolon, "&")
	} else {
		f.mark(s.Semicolon, ";")
	}
}

// branch lists the keywords of a branch that follow its condition; the first and the last
// one of the clause belong to the statement.
func (f *flattener) branch(c *syntax.IfClause) {
	f.mark(c.ThenPos, "then")
	switch {
	case c.Else == nil:
		f.mark(c.FiPos, "fi")
	case c.Else.ThenPos.IsValid():
		f.mark(c.Else.Position, "elif")
	default:
		f.mark(c.Else.Position, "else")
	}
}

func (f *flattener) redirect(r *syntax.Redirect) {
	from, number := r.OpPos, ""
	if r.N != nil {
		from, number = r.N.Pos(), r.N.Value
	}
	f.mark(from, number+r.Op.String())
	f.word(eventTarget, r.Word)
}
