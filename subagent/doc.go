// Package subagent holds agents as data, and runs those that work for others: a manifest
// says what an agent is told, and one loop runs them all (R133).
//
//	manifest := subagent.Main()
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux"})
//
// # Delegation
//
// The agents of a session are a [Family], a tree of nodes with the main agent at its root.
// A [Node] is the tools.Spawner of its agent: its Spawn makes a node below, which runs a
// loop of its own with what the session equips it with.
//
//	family, root := subagent.NewFamily(options, subagent.Top{ID: id, Emit: record, MessageOf: log.MessageOf})
//	result, err := root.Spawn(ctx, tools.Delegation{CallID: call, Agent: "explore", Prompt: "Find it."})
//
// A subagent ends once: by itself, at a bound, by a failure, or because it or an agent
// above it was cancelled. Then what it had open is closed, its record is complete, what it
// may still say is dropped, and only the record is kept.
//
// It imports loop, model, tools, transcript, kinds and capability, and knows neither
// sessions nor ACP.
//
// Goroutines: those of [Family], which its Close waits for.
//
// # Requirements
//
// R133 (agents are data), R138 (order and stability of the system prompt), R86, R111,
// R63, R65-R68, R70 (delegation).
package subagent
