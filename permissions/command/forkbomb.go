package command

import (
	"mvdan.cc/sh/v3/syntax"
)

// forks reports a function body that starts the function again in a pipeline or in the background,
// so that each run starts more than one further run (DN3).
func forks(body *syntax.Stmt, name string) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				found = found || calls(name, n.X, n.Y)
			}
		case *syntax.Stmt:
			if n.Background || n.Coprocess {
				found = found || calls(name, n)
			}
		}
		return !found
	})
	return found
}

// calls reports whether statements call a function.
func calls(function string, list ...*syntax.Stmt) bool {
	return callsAny(list, func(name string, _ bool) bool { return name == function })
}
