// Package undo takes changes of files back, and finds what a command changed.
//
// It owns the decision whether a change can be taken back, and in which order: a file must
// still be what the change left, and the changes of an operation go back newest first.
// It also owns the two looks at the session's directories by which a change that no tool
// made is found. [History] is the session's: a [journal.Journal] of what was changed, and
// what can be done with it. A command's changes are in the journal as found, without a
// pre-image, so they cannot be taken back.
//
// It touches no file of the user's: [Files] does, inside the session's directories, and
// package workspace implements it. It resolves no path. What a killed process left half
// done is undone by workspace/undo/recovery.
//
// It imports tools, workspace/undo/journal, internal/gitignore, internal/pathname and
// internal/rootfile, and starts no goroutines.
//
//	history := undo.New(undo.Options{Roots: roots, Images: private.Images})
//
//	scan := history.Look(ctx)
//	// ... a command runs ...
//	changes, skipped := scan.Changed(ctx)
//	history.NoteFound(origin, changes)
//
//	failed := history.Rollback(ctx, undo.Call{Origin: origin, Files: files}, "call_1")
//
// # Requirements
//
// R95 (undo), R127, R128 (rollback, what a command changed), R129 (audit).
// docs/security.md D1.
package undo
