package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

func (e *expander) statements(list []*syntax.Stmt, x expansion) expansions {
	out := bothWays(x)
	for _, s := range list {
		out = e.statement(s, out.any())
	}
	return out
}

func (e *expander) statement(s *syntax.Stmt, x expansion) expansions {
	e.depth++
	defer func() { e.depth-- }()
	if e.failed || e.depth > maxNesting || s.Background || s.Coprocess || s.Disown {
		e.stop()
		return bothWays(x)
	}
	for _, r := range s.Redirs {
		e.redirection(r, x)
	}
	var out expansions
	switch c := s.Cmd.(type) {
	case nil:
		return bothWays(x)
	case *syntax.CallExpr:
		out = e.call(c, x)
	case *syntax.DeclClause:
		out = e.declaration(c, x)
	case *syntax.BinaryCmd:
		out = e.binary(c, x)
	case *syntax.Block:
		out = e.statements(c.Stmts, x)
	case *syntax.Subshell:
		e.statements(c.Stmts, x)
		out = bothWays(x)
	case *syntax.IfClause:
		out = e.ifClause(c, x)
	case *syntax.ForClause:
		out = e.forClause(c, x)
	case *syntax.CaseClause:
		after := x
		for _, item := range c.Items {
			after = after.merge(e.statements(item.Stmts, x).any())
		}
		out = bothWays(after)
	default:
		e.stop()
		return bothWays(x)
	}
	if s.Negated {
		out.ok, out.fail = out.fail, out.ok
	}
	return out
}

func (e *expander) redirection(r *syntax.Redirect, x expansion) {
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		if e.rounds > 0 {
			e.stop() // the body of the here-document stands outside of what render repeats
		}
		return
	}
	if fields := e.word(r.Word, x); len(fields) != 1 {
		e.stop()
	}
}

func (e *expander) binary(c *syntax.BinaryCmd, x expansion) expansions {
	switch c.Op {
	case syntax.AndStmt:
		left := e.statement(c.X, x)
		right := e.statement(c.Y, left.ok)
		return expansions{right.ok, left.fail.merge(right.fail)}
	case syntax.OrStmt:
		left := e.statement(c.X, x)
		right := e.statement(c.Y, left.fail)
		return expansions{left.ok.merge(right.ok), right.fail}
	default:
		e.statement(c.X, x)
		piped := e.piped
		e.piped = true
		e.statement(c.Y, x)
		e.piped = piped
		return bothWays(x)
	}
}

func (e *expander) ifClause(c *syntax.IfClause, x expansion) expansions {
	var after []expansion
	for ; c != nil; c = c.Else {
		condition := bothWays(x)
		if len(c.Cond) > 0 {
			condition = e.statements(c.Cond, x)
		}
		after = append(after, e.statements(c.Then, condition.ok).any())
		if x = condition.fail; c.Else == nil && len(c.Cond) > 0 {
			after = append(after, x) // no branch was taken
		}
	}
	out := after[0]
	for _, more := range after[1:] {
		out = out.merge(more)
	}
	return bothWays(out)
}

// forClause replaces a loop by its body, once for each value.
func (e *expander) forClause(c *syntax.ForClause, x expansion) expansions {
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces || !loop.InPos.IsValid() || !ordinaryVariable(loop.Name.Value) || jumps(c.Do) {
		e.stop()
		return bothWays(x)
	}
	outer := e.edits
	var values []string
	for _, item := range loop.Items {
		values = append(values, e.word(item, x)...)
	}
	var b strings.Builder
	b.WriteString("{")
	for _, value := range values {
		if e.rounds++; e.failed || e.rounds > maxRounds || b.Len() > shell.MaxText {
			e.stop()
			return bothWays(x)
		}
		e.edits = nil
		x = e.statements(c.Do, x.with(loop.Name.Value, value)).any()
		b.WriteString(e.render(int(c.DoPos.Offset())+len("do"), int(c.DonePos.Offset())))
		b.WriteString("\n")
	}
	b.WriteString("}")
	text := b.String()
	if len(values) == 0 {
		text = ":"
	}
	e.edits = outer
	e.replace(c, text)
	return bothWays(x)
}

// jumps reports a body that may leave its loop before its end.
func jumps(body []*syntax.Stmt) bool {
	return callsAny(body, func(name string, known bool) bool { return known && hasWord("break continue return", name) })
}
