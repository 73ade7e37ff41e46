// Package subagent describes agents as data and runs the agents that work for other agents.
// A manifest says what an agent's system prompt contains and which tools the agent may use;
// one loop runs every agent (R133).
//
// The package owns the manifest format, the search for manifests, the precedence between
// two manifests of one name, and the checks of a manifest. It opens no files: package skills
// reads the user's manifests, and the project's manifests come from the snapshot that trust
// is bound to.
//
//	catalog := subagent.Load(subagent.LoadOptions{Home: home, Dir: dir, Project: snapshot, Trusted: true})
//	for _, problem := range catalog.Problems() {
//		log.Print(problem) // ".agents/agents/fix.md:6: undefined variable ..."
//	}
//	manifest, ok := catalog.Get("explore")
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux", Context: context})
//
// # Delegation
//
// The agents of a session form a [Tree] of nodes with the main agent at its root. A [Node]
// is the tools.Spawner of its agent: Spawn adds a child node, which runs its own loop with
// the [Equipment] that the session gives it.
//
//	tree, root := subagent.NewTree(options, subagent.Root{ID: id, Emit: record, MessageOf: log.MessageOf})
//	result, err := root.Spawn(ctx, tools.Delegation{CallID: call, Agent: "explore", Prompt: "Find it."})
//
// A subagent ends exactly once: it finishes, reaches a limit, fails, or is cancelled, alone
// or with an ancestor. Its end closes its open calls and texts, completes its record and
// drops later output. After that the tree keeps only the record.
//
// It imports loop, compaction, model, tools, tools/builtin, tools/pipeline, transcript, skills,
// permissions, permissions/projects, capability, kinds, and of internal: pathname, record, strictread,
// textcut and trace. It depends neither on sessions nor on ACP.
//
// Goroutines: those of [Tree]; Tree.Close waits for them.
//
// # Requirements
//
// R62 (the context of a delegation), R63 (modes), R65-R68 and R70 (delegation), R69 (the
// record), R71 (the line about the caller), R72 (shipped agents), R86, R99 (settings for
// each agent), R111, R133 (agents are data), R138 (order and stability of the system
// prompt).
package subagent
