// Package recovery undoes what a killed process left half done in the user's
// directories: it renames back a batch of changes that was cut in two, removes
// temporary files, and removes directories that never got their file.
//
// It owns the notes that a session writes before such a step, the names of
// temporary files, and the sweep that reads the notes of a dead session. A live
// session takes its own steps back; package workspace does that. The package decides
// nothing by content that is not in a note: it touches files that carry a name of its
// own pattern, files whose bytes a note names, and empty directories.
//
// It imports internal/rootfile, workspace/private and workspace/undo/journal, and
// starts no goroutines.
//
//	list := recovery.NewLeftovers(dir)
//	defer list.Close()
//	list.Temp(path) // before the temporary file is created
//
//	finish, err := recovery.WritePlan(dir, steps)
//	if err != nil { ... } // nothing was renamed yet
//	// ... the renamings ...
//	finish()
//
//	recovery.Sweep(dirOfADeadSession, resolve)
//
// # Requirements
//
// R97 (changes as one), R107 (what killed processes left). docs/security.md D2.
package recovery
