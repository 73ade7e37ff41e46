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
				found = found || calls(n.X, name) || calls(n.Y, name)
			}
		case *syntax.Stmt:
			if n.Background || n.Coprocess {
				found = found || calls(n, name)
			}
		}
		return !found
	})
	return found
}

// calls reports whether a node calls the command of that name.
func calls(node syntax.Node, name string) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			found = found || unescape(call.Args[0].Lit()) == name
		}
		return !found
	})
	return found
}
