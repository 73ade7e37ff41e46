// Package subagent holds agents as data, and runs those that work for others: a manifest
// says what an agent is told and what it may use, and one loop runs them all (R133).
//
// It owns the form of a manifest, where manifests are found and which of two wins,
// and what is wrong with one. It opens no file: those of the person come from
// skills, those of the project from the very content that trust is bound to.
//
//	catalog := subagent.Load(subagent.LoadOptions{Home: home, Dir: dir, Project: snapshot, Trusted: true})
//	for _, problem := range catalog.Warnings() {
//		log.Print(problem) // ".agents/agents/fix.md:6: undefined variable ..."
//	}
//	manifest, ok := catalog.Get("explore")
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux", Context: context})
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
// It imports loop, model, tools, tools/pipeline, transcript, skills, permissions,
// capability, kinds, permissions/projects, internal/trace and a YAML decoder, and knows
// neither sessions nor ACP.
//
// Goroutines: those of [Family], which its Close waits for.
//
// # Requirements
//
// R62 (the context of a delegation), R63 (modes), R65-R68 and R70 (delegation), R69 (the
// record), R71 (the line about the caller), R72 (shipped agents), R86, R99 (a slot for each
// in the settings), R111, R133 (agents are data), R138 (order and stability of the system
// prompt).
package subagent
