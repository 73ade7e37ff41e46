// Package subagent holds agents as data: the manifests that say what an agent
// is told, which tools it has, and where its limits are. One loop runs them
// all (R133).
//
//	manifest := subagent.Main()
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux"})
//
// It imports only the standard library, knows neither the loop nor ACP, and
// starts no goroutine.
//
// # Requirements
//
// R133 (agents are data), R138 (order and stability of the system prompt).
package subagent
