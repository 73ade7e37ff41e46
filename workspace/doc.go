// Package workspace is the ground a session stands on: it implements
// [tools.Runtime], the only door through which a running tool reaches files,
// processes and its session's private directory.
//
// It owns confinement, and decides nothing else. Every path is resolved by
// hand to the directories it really leads through, must lie in one of the
// session's roots, and is then opened again from that root's handle, one
// directory at a time, each proved to be the one that was looked at. A link
// swapped in between check and use is noticed, not followed. Containment is
// the identity of directories, never a comparison of text.
//
// [Call.Bind] has whoever judged a call look at each path once more at the moment of
// its use. An editor is given paths and no handles, so where the path leads is looked
// at before and again afterwards.
//
// It also owns how a person's editor takes part (R155): which files are read
// and written through it, and what happens when its buffer and the disk
// disagree. The rule: a buffer that equals what the disk held when we last
// looked is clean, and when a command has changed the disk since, the disk is
// newer and wins. Any other difference is unsaved work, and the buffer's text
// is used.
//
// It remembers what each call changed through it (workspace/undo/journal): before a
// file is written or deleted its bytes and mode are kept, durably, in the
// session's private directory; what was renamed is renamed back. A change is
// taken back only from a file that still is what the change left: [Call.Changes]
// takes back the last change of a file, [Workspace.Rollback] all of a call's.
// Several changes can be made as one ([tools.FS] Apply): all is got ready before the
// first, and a sweep undoes what a kill cut in two. Locks of files hold across agent
// processes ([Locks]).
//
// Through the editor the text goes back the way it came, and the disk is never
// written behind its back. What a command changes has no pre-image:
// [Workspace.Look] can say that it changed. [Workspace.Close] waits for changes
// and rollbacks that are under way, so that none stays half done.
//
// An agent that work is delegated to stands on the same ground ([Workspace.Delegate]):
// all is shared but what a person opened for one of them. What it changes counts as
// changed by the call that delegated to it, too, and is rolled back with that.
//
// Its commands and programs run behind the walls that package sandbox builds; what
// those cannot keep a command from (a repository's configuration and hooks, and under
// weaker kinds the agent's own directories) is compared behind each command, put back,
// and told in its result.
//
// It does not judge: permission rules, what is asked, and which names are
// secret come from outside. It knows no protocol; [Editor] and [Terminals] are
// the client as it needs it. It imports tools, kinds, transcript,
// capability, workspace/undo/journal, internal/launch, sandbox, internal/search,
// internal/gitignore, internal/userfile, and a file lock.
//
// Goroutines: a write makes pre-image and new file side by side, and waits for
// both. Those of commands belong to internal/launch; the release of a client's
// terminal after a cancelled command is waited for by [Workspace.Quiet] and
// [Workspace.Close].
//
//	w, err := workspace.New(workspace.Options{SessionID: id, Cwd: "/work/project"})
//	if err != nil { ... }
//	defer w.Close(launch.ShutdownGrace)
//
//	access, err := w.Check("/work/project/main.go", false)
//	...
//	call := w.Call(callID, "read", sink)
//	defer call.Finish()
//	text, err := call.FS().ReadText(ctx, "main.go")
//
// # Requirements
//
// R12, R29-R31, R33, R35, R40 (files), R54, R55, R58, R59 (commands), R64 (what a
// person opened), R95, R96,
// R127-R129 (changes), R105, R107, R109 (sidecars and scratch), R112, R113
// (confinement), R149 (close), R155, R156 (the editor's files and terminals);
// C-29. docs/security.md P1-P3, P6, P7, P9, D1, D2, D4, X5.
package workspace
