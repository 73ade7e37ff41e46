// Package subagent holds agents as data: a manifest says what an agent is told,
// and one loop runs them all (R133). There is one manifest so far, that of the
// agent which a person talks to.
//
//	manifest := subagent.Main()
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux"})
//
// It imports capability, knows neither the loop nor ACP, and starts no
// goroutine.
//
// # Requirements
//
// R133 (agents are data), R138 (order and stability of the system prompt), R86, R111.
package subagent
