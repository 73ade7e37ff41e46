package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// flow is the outcome of a statement: the directories in which the shell may be after it succeeded
// (ok) and after it failed (fail), and the simple commands that it ran.
type flow struct {
	ok, fail dirs
	ran      []simple
}

// stay is the flow of a statement that leaves the shell where it is.
func stay(at dirs) flow { return flow{ok: at, fail: at} }

func (f flow) any() dirs { return f.ok.union(f.fail) }

// stmts judges statements that run one after the other. Every part inside gets a finding at least
// as strict as floor.
func (j *judge) stmts(list []*syntax.Stmt, at dirs, floor finding) flow {
	out := stay(at)
	for _, s := range list {
		f := j.stmt(s, out.any(), floor)
		f.ran = append(out.ran, f.ran...)
		out = f
	}
	return out
}

func (j *judge) stmt(s *syntax.Stmt, at dirs, floor finding) flow {
	if j.err != nil || s == nil {
		return stay(at)
	}
	if j.depth++; j.depth > MaxDepth {
		j.err = errTooDeep
		return stay(at)
	}
	defer func() { j.depth-- }()

	background := s.Background || s.Coprocess || s.Disown
	if background {
		floor = floor.worse(asks(Unlisted, "the command runs in the background"))
	}
	from := len(j.parts.list)
	f := j.command(s, at, floor)
	fed := j.redirects(s.Redirs, at, floor)
	if _, coproc := s.Cmd.(*syntax.CoprocClause); background || coproc {
		j.parts.detachFrom(from)
	}
	j.checkRedirected(s, f.ran, fed, from)
	if s.Negated {
		f.ok, f.fail = f.fail, f.ok
	}
	if background {
		f.ok, f.fail = at, at
	}
	return f
}

// command judges one node. It asks about a kind of node that has no case here, and judges the
// statements inside it all the same (C1).
func (j *judge) command(s *syntax.Stmt, at dirs, floor finding) flow {
	switch c := s.Cmd.(type) {
	case nil:
		return stay(at)
	case *syntax.CallExpr:
		return j.call(s, c, at, floor)
	case *syntax.BinaryCmd:
		return j.binary(c, at, floor)
	case *syntax.Block:
		return j.stmts(c.Stmts, at, floor)
	case *syntax.Subshell:
		return flow{ok: at, fail: at, ran: j.stmts(c.Stmts, at, floor).ran} // a cd inside ends with it
	case *syntax.IfClause:
		return j.ifClause(c, at, floor)
	case *syntax.WhileClause:
		return j.loop(at, floor.worse(asks(Endless, "a loop runs until its condition says otherwise")), c.Cond, c.Do)
	case *syntax.ForClause:
		return j.forClause(c, at, floor)
	case *syntax.FuncDecl:
		return j.function(c, at, floor)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return j.opaque(c, at, floor, "time")
		}
		return j.stmt(c.Stmt, at, floor.worse(asks(Wrapper, "time runs another command")))
	case *syntax.CaseClause:
		return j.caseClause(c, at, floor)
	case *syntax.DeclClause:
		return j.declaration(c, at, floor)
	default:
		return j.opaque(c, at, floor, "this form of the shell language")
	}
}

// binary judges a list of && and ||, or a pipeline. The parser nests lists to the left; binary
// flattens them, so that a long list does not count as a deep one.
func (j *judge) binary(c *syntax.BinaryCmd, at dirs, floor finding) flow {
	if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt {
		return j.pipeline(c, at, floor)
	}
	spine := []*syntax.BinaryCmd{c}
	first := c.X
	for bare(first) {
		list, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || list.Op != syntax.AndStmt && list.Op != syntax.OrStmt {
			break
		}
		spine, first = append(spine, list), list.X
	}
	out := j.stmt(first, at, floor)
	for _, list := range slices.Backward(spine) {
		if list.Op == syntax.AndStmt {
			y := j.stmt(list.Y, out.ok, floor)
			out = flow{ok: y.ok, fail: out.fail.union(y.fail), ran: append(out.ran, y.ran...)}
			continue
		}
		y := j.stmt(list.Y, out.fail, floor)
		out = flow{ok: out.ok.union(y.ok), fail: y.fail, ran: append(out.ran, y.ran...)}
	}
	return out
}

// bare reports whether a statement is nothing but its command: no redirection, no "!", no "&".
func bare(s *syntax.Stmt) bool {
	return !s.Background && !s.Negated && !s.Coprocess && !s.Disown && len(s.Redirs) == 0
}

// pipeline judges the stages of a pipeline, each in its own subshell, and what one stage feeds to
// the next.
func (j *judge) pipeline(c *syntax.BinaryCmd, at dirs, floor finding) flow {
	stages := []*syntax.Stmt{c.Y}
	first := c.X
	for bare(first) {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
			break
		}
		stages, first = append(stages, b.Y), b.X
	}
	stages = append(stages, first)
	var ran, earlier []simple
	start := len(j.parts.list)
	for _, s := range slices.Backward(stages) {
		from := len(j.parts.list)
		f := j.stmt(s, at, floor)
		j.parts.raiseFrom(from, connected(earlier, f.ran))
		earlier = roles(append(earlier, f.ran...))
		ran = append(ran, f.ran...)
	}
	j.parts.raiseFrom(start, unboundedPipeline(len(stages), ran))
	return flow{ok: at, fail: at, ran: ran}
}

// declaration asks about export, declare and the like. Without a value they print the variables,
// so they count as commands that may feed the environment to another one.
func (j *judge) declaration(c *syntax.DeclClause, at dirs, floor finding) flow {
	f := j.opaque(c, at, floor, c.Variant.Value)
	argv := []string{c.Variant.Value}
	for _, a := range c.Args {
		argv = append(argv, source(j.parts.text, a))
	}
	f.ran = append(f.ran, simple{argv: argv, at: at})
	f.ok = at
	return f
}

// opaque asks about a node that the policy has no rule for, and judges the statements inside it.
func (j *judge) opaque(node syntax.Node, at dirs, floor finding, what string) flow {
	f := floor.worse(asks(Dynamic, what+" is not on the list of what only reads"))
	after := dirs{unknown: true}
	switch node.(type) {
	case *syntax.DeclClause:
	case *syntax.TestClause, *syntax.ArithmCmd:
		after = at // neither changes the directory
	default:
		f = f.orNotReadOnly(f.reason)
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok {
			f = f.worse(j.assigns(a, at))
		}
		_, program := n.(*syntax.Stmt)
		return !program
	})
	j.parts.add(node, f)
	return flow{ok: after, fail: at, ran: j.inside(node, at, f)}
}

// inside judges every statement anywhere beneath a node: those of substitutions, and those of
// constructs that have no case of their own.
func (j *judge) inside(node syntax.Node, at dirs, floor finding) []simple {
	var ran []simple
	syntax.Walk(node, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			floor := floor.worse(asks(Dynamic, "a substitution is only known when it runs"))
			ran = append(ran, j.stmt(s, at, floor).ran...)
			return false
		}
		return j.err == nil
	})
	return ran
}

// anyNode reports whether a node, or one beneath it, matches.
func anyNode(node syntax.Node, match func(syntax.Node) bool) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		found = found || match(n)
		return !found
	})
	return found
}
