// Package workspace is the files and commands of a session, confined to its directories. [Call] is
// the part of [tools.Runtime] that reaches files, processes and the session's private directory;
// tools/pipeline adds network and services and hands the whole to the tool.
//
// It owns confinement, and decides nothing else. Every path is resolved by hand to the
// directories it really leads through, must lie in one of the session's roots, and is
// then opened again from that root's handle, one directory at a time, each proved to be
// the one that was looked at. A link swapped in between check and use is noticed, not
// followed. Containment is the identity of directories, never a comparison of text.
// [Call.Bind] has the judge of a call look at each path once more at the moment of its
// use. An editor is given paths and no handles, so where a path leads is looked at
// before and again afterwards.
//
// Its parts, from the session to the disk:
//
//   - layout.go: where the session works, and how a path is resolved there; trail.go
//     follows one path
//   - access.go: what one agent may use, what the user opened for it included (opened.go)
//   - walker.go: takes one call to a place (place.go), each time within what it may use
//   - view.go: a file's text as the user sees it, the editor's part (editor.go) included
//   - disk.go: changes at a place that leave each name with a whole file
//   - files.go: the tools' file system, with write.go, remove.go, rename.go and batch.go
//   - restore.go: what [acp-agent/workspace/undo] asks of the disk to take a change back
//   - call.go, output.go, sidecar.go: one call, what it shows, and what did not fit
//
// The editor takes part by one rule (R155): a buffer that equals what the disk held
// when we last looked is clean, and when a command has changed the disk since, the disk
// is newer and wins. Any other difference is unsaved work, and the buffer's text is
// used. Through the editor a change is taken back the way it was made, and the disk is
// never written without it.
//
// Each change is recorded before it is made, with the bytes and the mode that it
// replaces, and [Workspace.History] can take it back. Several changes can be made as one
// ([tools.FS] Apply): all are prepared before the first, and a sweep undoes what a kill
// cut in two. Locks of files hold across agent processes ([Locks]). [Workspace.Close]
// waits for changes and rollbacks in flight, so that none stays half done.
//
// An agent that work is delegated to has the same workspace ([Workspace.Delegate]): all
// is shared but what the user opened for one agent. What it changes counts as changed by
// the call that delegated to it, too, and is rolled back with that.
//
// Commands and programs are run by workspace/run, in the sandbox that package sandbox
// builds.
//
// It does not judge: permission rules, what is asked, and which names are secret come from
// outside. It knows no protocol; [Editor] and the terminals of workspace/run are the client as
// it needs it. It imports tools, kinds, transcript, capability, the packages below workspace,
// internal/pathname, internal/pause, internal/redact, internal/rootfile, internal/search,
// internal/textcut and internal/userfile.
//
// Goroutines: a write makes pre-image and new file concurrently, and waits for both.
// internal/launch owns the goroutines of commands, and workspace/run waits for the
// release of a client's terminal.
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
// R12, R29-R31, R33, R35, R40 (files), R54, R55, R58, R59 (commands), R64 (what the
// user opened), R95, R96, R127-R129 (changes), R105, R107, R109 (sidecars and scratch),
// R112, R113 (confinement), R149 (close), R155, R156 (the editor's files and terminals).
// docs/security.md P1-P3, P6, P7, P9, D1, D2, D4, X5.
package workspace
