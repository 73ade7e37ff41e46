package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// ifClause judges the branches of an if. The shell may leave it by any of them.
func (j *judge) ifClause(c *syntax.IfClause, at dirs, floor finding) flow {
	var ran []simple
	var end dirs
	entered := false
	leave := func(f flow) {
		if ran = append(ran, f.ran...); !entered {
			end, entered = f.any(), true
			return
		}
		end = end.union(f.any())
	}
	for ; c != nil; c = c.Else {
		cond := j.stmts(c.Cond, at, floor)
		ran = append(ran, cond.ran...)
		at = cond.any()
		leave(j.stmts(c.Then, at, floor))
		if c.Else == nil && len(c.Cond) > 0 {
			leave(stay(at)) // no branch was taken
		}
	}
	return flow{ok: end, fail: end, ran: ran}
}

// loop judges a body that may run again in the directory in which it ended.
func (j *judge) loop(at dirs, floor finding, cond, body []*syntax.Stmt) flow {
	if moves(cond) || moves(body) {
		at = dirs{unknown: true}
	}
	first := j.stmts(cond, at, floor)
	second := j.stmts(body, first.any(), floor)
	end := at.union(second.any())
	return flow{ok: end, fail: end, ran: append(first.ran, second.ran...)}
}

// moves reports whether the statements may change the working directory.
func moves(list []*syntax.Stmt) bool {
	return callsAny(list, func(name string, known bool) bool { return !known || hasWord("cd pushd popd", name) })
}

// callsAny reports whether the statements call a command whose name matches. known is false for a
// name that is only known when the command runs; name is then what can be told of it.
func callsAny(list []*syntax.Stmt, match func(name string, known bool) bool) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool {
		return anyNode(s, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 {
				return false
			}
			name, known := shell.Static(call.Args[0])
			if !known {
				name.Value = unescape(call.Args[0].Lit())
			}
			return match(name.Value, known)
		})
	})
}

func (j *judge) forClause(c *syntax.ForClause, at dirs, floor finding) flow {
	floor = floor.worse(asks(Dynamic, "the loop sets a variable"))
	var ran []simple
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		for _, item := range loop.Items {
			floor = floor.orNotSandboxable(j.wordNotSandboxable(j.words.word(item, at), at, true))
			ran = append(ran, j.inside(item, at, floor)...)
		}
	default:
		ran = j.inside(c.Loop, at, floor)
	}
	f := j.loop(at, floor, nil, c.Do)
	f.ran = append(ran, f.ran...)
	if len(f.ran) == 0 {
		j.parts.add(c, floor)
	}
	return f
}

func (j *judge) caseClause(c *syntax.CaseClause, at dirs, floor finding) flow {
	ran := j.inside(c.Word, at, floor)
	words := []*syntax.Word{c.Word}
	for _, item := range c.Items {
		words = append(words, item.Patterns...)
		for _, p := range item.Patterns {
			ran = append(ran, j.inside(p, at, floor)...)
		}
	}
	if !literalWords(words...) {
		// An expansion in a pattern can set a variable, so the case itself becomes a part.
		floor = floor.worse(asks(Dynamic, "the case depends on a value that is not known before it runs"))
		j.parts.add(c, floor)
	}
	end := at
	for _, item := range c.Items {
		f := j.stmts(item.Stmts, end, floor)
		end = end.union(f.any())
		ran = append(ran, f.ran...)
	}
	if len(ran) == 0 {
		j.parts.add(c, floor.worse(asks(Unlisted, "the case runs no command")))
	}
	return flow{ok: end, fail: end, ran: ran}
}
