// Package session keeps live sessions: one turn at a time, a queue after it,
// cancel, modes, config options and slash commands. It puts the parts of one
// session together (workspace, permission policy, pipeline, transcript) and
// runs the loop over them.
//
//	s, err := host.Open(ctx, session.Spec{Cwd: "/work", Sink: sink, Asker: asker})
//	turn := s.Prompt(parts) // queued at once, never blocks
//	stop, err := turn.Wait(ctx)
//	turn.Release() // the answer is out: the next turn may start
//	s.Cancel()
//	s.Close(grace)
//
// mode.go holds the modes that a session offers and how they change, mode_policy.go what each
// says about tools, calls and to the model. delegate.go equips the subagents of a session
// and takes their reports in; consult.go asks the agents that the host itself has use for.
//
// It knows neither ACP nor the command line: editors come in as the interfaces
// of tools and workspace, events go out through a transcript.Sink. It imports
// loop, subagent, tools, tools/pipeline, workspace, permissions and its watchdog,
// audit, capability, sandbox, skills, model, kinds and transcript, and of internal:
// launch, lsp, network, observe, projects, redact, resultcache, shell and trace.
//
// Goroutines: each session has one that drains its queue, alive only while there is a
// turn, one for each command that is answered beside a turn, one that has the session
// named, one for each model that it waits to learn of, and one while it is not known how
// processes are confined; Close waits for them, and for those of its [subagent.Tree].
// The host has one for each model that a server is asked about, for at most 15 s;
// [Host.Close] ends them and waits.
//
// # Requirements
//
// R10, R61, R64 (what is not handed down), R66-R68, R72 (the host's own agents), R73, R75, R80,
// R85-R86, R117 (trust), R124 (commands that no user sees), R126, R129, R131-R133, R138 (where
// the mode is stated), R140, R142, R143, R149, R153, R157-R159, R161.
package session
