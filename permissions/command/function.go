package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// function asks about the definition of a function and judges its body, which may run in any
// directory. A function that starts itself twice over is a fork bomb (DN3).
func (j *judge) function(c *syntax.FuncDecl, at dirs, floor finding) flow {
	f := asks(Dynamic, "the command defines a function").orNotReadOnly("the command defines a function")
	if c.Name != nil && forks(c.Body, c.Name.Value) {
		f = denies(ForkBomb, "the function "+c.Name.Value+" starts itself without end")
	}
	j.parts.add(c, floor.worse(f))
	ran := j.stmts([]*syntax.Stmt{c.Body}, dirs{unknown: true}, floor.worse(f)).ran
	return flow{ok: at, fail: at, ran: ran}
}

// forks reports a function body that starts the function again in a pipeline or in the background,
// so that each run starts more than one further run (DN3).
func forks(body *syntax.Stmt, name string) bool {
	return anyNode(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			return (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(name, n.X, n.Y)
		case *syntax.Stmt:
			return (n.Background || n.Coprocess) && calls(name, n)
		}
		return false
	})
}

// calls reports whether statements call a function.
func calls(function string, list ...*syntax.Stmt) bool {
	return callsAny(list, func(name string, _ bool) bool { return name == function })
}
