// Package subagent holds agents as data: a manifest says what an agent is told and
// what it may use, and one loop runs them all (R133).
//
// It owns the form of a manifest, where manifests are found and which of two wins,
// and what is wrong with one. It opens no file: those of the person come from
// skills, those of the project from the very content that trust is bound to.
//
//	catalog := subagent.Load(subagent.Options{Home: home, Dir: dir, Project: snapshot, Trusted: true})
//	for _, problem := range catalog.Warnings() {
//		log.Print(problem) // ".agents/agents/fix.md:6: undefined variable ..."
//	}
//	manifest, ok := catalog.Get("explore")
//	prompt := manifest.System(subagent.Environment{Cwd: "/work", OS: "linux", Context: context})
//
// It imports skills, internal/projects, permissions, tools/pipeline (for what the host
// grants at most) and a YAML decoder, knows neither sessions nor ACP, and starts no
// goroutine.
//
// # Requirements
//
// R133 (agents are data), R138 (order and stability of the system prompt), R62 (the
// context of a delegation), R63 (modes), R71 (the line about the caller), R72 (shipped
// agents), R99 (a slot for each in the settings), R86, R111.
package subagent
