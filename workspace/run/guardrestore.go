package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
)

// writtenByTool reports whether a file is as another tool of the session left it while the command
// ran: that change was judged.
func (at *guardedRoot) writtenByTool(name string, now kept) bool {
	change, ok := at.tools[at.abs(name)]
	return ok && change.After != nil && now.mode.IsRegular() && !now.opaque && journal.ContentOf(string(now.text)) == *change.After
}

// deletedByTool reports whether another tool of the session removed a file while the command ran.
func (at *guardedRoot) deletedByTool(name string) bool {
	change, ok := at.tools[at.abs(name)]
	return ok && change.Kind == journal.Deleted
}

func (at *guardedRoot) abs(name string) string {
	return filepath.Join(at.root.Path, filepath.FromSlash(name))
}

// restoreFile makes a file what it was, or takes away one that was not there. What stands
// there is moved aside. It returns "" for a change that is the user's own.
func (g *guard) restoreFile(at *guardedRoot, name string, before kept, had bool, why string) string {
	shown := at.abs(name)
	switch {
	case at.outOfReach(name):
		return ""
	case before.opaque:
		return fmt.Sprintf("%s was changed and cannot be put back: %s."+lookAtIt, shown, why)
	}
	aside, err := g.moveAside(at, name, before, had)
	moved := ""
	if aside.Kept != "" {
		g.asides = append(g.asides, aside)
		moved = " What stood there is " + aside.Kept + "."
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be put back (%v): %s."+lookAtIt, shown, err, why)
	case had:
		return fmt.Sprintf("%s was put back as it was: %s.%s", shown, why, moved)
	}
	return fmt.Sprintf("%s was moved aside: %s.%s", shown, why, moved)
}

func writeNew(r *rootfile.Dir, name string, before kept) error {
	if before.link != "" {
		return r.Handle.Symlink(before.link, name)
	}
	mode := before.mode.Perm()
	f, err := r.Handle.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(before.text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
