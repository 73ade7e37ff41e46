// Package session keeps live sessions: one turn at a time, a queue after it,
// cancel, modes, config options and slash commands. It puts the parts of one
// session together (workspace, permission policy, pipeline, transcript) and
// runs the loop over them.
//
//	client := session.Client{Sink: sink, Asker: asker}
//	s, err := host.Open(ctx, session.Spec{Cwd: "/work", Client: client})
//	turn := s.Prompt(parts) // queued at once, never blocks
//	stop, err := turn.Wait(ctx)
//	turn.Release() // the answer is out: the next turn may start
//	s.Cancel()
//	s.Close(grace)
//
// [Session] is a table of contents: each of its fields is a part with its own file, and none of them
// has a reference to the session. open.go makes the parts, run_turn.go lists the stages of a turn,
// commands.go the slash commands, and stored.go stores and restores. mode.go has the modes that a session
// offers and how they change, mode_policy.go which tools and calls each allows, jobs.go how commands in
// the background are reported. The files recorded_*.go and performer.go are for recordings and replays.
//
// It does not depend on ACP or the command line: editors come in as the interfaces of tools and
// workspace, events go out through a transcript.Sink. It imports loop, subagent, compaction, mcp,
// mcp/oauth, tools and builtin, mount, provider and pipeline below it, workspace,
// workspace/run, permissions and command, projects and watchdog below it, audit, capability,
// sandbox, skills, model, store, export, kinds and transcript, and of internal: cgroup, fileuri, launch, lsp,
// network, observe, pathname, redact, resultcache, shell and trace.
//
// Goroutines of a session: one drains the queue while there is a turn; one answers each command
// that comes during a turn; one generates the title; one waits for each model's description; one
// waits for the sandbox trial. Close waits for all, and for those of its [subagent.Tree].
// Goroutines of a [Host]: one for each model that a server is asked about, for at most 15 s, and
// those of Warm, Sweep, SweepStore and SweepAudit. [Host.Close] waits for them.
//
// # Requirements
//
// R10, R61, R64 (what is not handed down), R66-R68, R72 (the host's own agents), R73, R75, R80,
// R85-R86, R117 (trust), R124 (commands that no user sees), R126, R129, R131-R133, R138 (where
// the mode is stated), R139 (/compact, and who writes the summary), R140-R143, R148, R149, R153,
// R157-R159, R161; R99 (earlier conversations), R144 (/export).
package session
