package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/workspace/journal"
)

// putBackName is the directory, in the session's scratch directory, for what stood where
// something was put back: a person may have written it meanwhile.
const putBackName = "put-back"

// ours reports whether a file is as a tool of the session left it, which was judged for
// that, while the command ran.
func (at *guarded) ours(name string, now kept) bool {
	change, ok := at.tools[at.abs(name)]
	return ok && change.After != nil && now.mode.IsRegular() && !now.opaque && journal.ContentOf(string(now.text)) == *change.After
}

// taken reports whether a tool of the session took a file away while the command ran.
func (at *guarded) taken(name string) bool {
	change, ok := at.tools[at.abs(name)]
	return ok && change.Kind == journal.Deleted
}

func (at *guarded) abs(name string) string {
	return filepath.Join(at.root.path, filepath.FromSlash(name))
}

// restore makes a file what it was, or takes away one that was not there.
func (g *guard) restore(at *guarded, name string, before kept, had bool, why string) string {
	shown, local := at.abs(name), filepath.FromSlash(name)
	if before.opaque {
		return fmt.Sprintf("%s was changed and cannot be put back: %s."+lookAtIt, shown, why)
	}
	aside := g.setAside(at, name)
	var err error
	if had {
		err = g.putBack(at, local, before)
	} else {
		err = at.root.handle.RemoveAll(local)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be put back (%v): %s."+lookAtIt, shown, err, why)
	case had:
		return fmt.Sprintf("%s was put back as it was: %s.%s", shown, why, aside)
	}
	return fmt.Sprintf("%s was taken away again: %s.%s", shown, why, aside)
}

// setAside keeps the text that stands where something is about to be put back, for as
// long as the session lives, and says where.
func (g *guard) setAside(at *guarded, name string) string {
	now, err := lookAt(at.root, name)
	if err != nil || len(now.text) == 0 || g.w.o.Secret(at.abs(name)) || g.w.private.create() != nil {
		return ""
	}
	dir := filepath.Join(scratchName, putBackName, strings.ToLower(rand.Text()))
	own := g.w.private.roots()
	if len(own) == 0 || own[0].handle.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	file := filepath.Join(dir, filepath.Base(filepath.FromSlash(name)))
	if own[0].handle.WriteFile(file, now.text, 0o600) != nil {
		return ""
	}
	return " What stood there is " + filepath.Join(g.w.private.dir, file) + "."
}

// putBack makes what was there anew beside its place and then gives it its name, so that
// nothing is lost when the agent is killed in between.
func (g *guard) putBack(at *guarded, name string, before kept) error {
	handle, dir := at.root.handle, filepath.Dir(name)
	if err := handle.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".acp-agent-"+strings.ToLower(rand.Text())+".tmp")
	g.w.private.remember(filepath.Join(at.root.path, temp))
	err := writeNew(at.root, temp, before)
	if info, lerr := handle.Lstat(name); err == nil && lerr == nil && info.IsDir() {
		err = handle.RemoveAll(name) // no file takes the place of a directory
	}
	if err == nil {
		err = handle.Rename(temp, name)
	}
	if err != nil {
		_ = handle.Remove(temp) // what stays is swept later
	}
	return err
}

func writeNew(r *root, name string, before kept) error {
	if before.link != "" {
		return r.handle.Symlink(before.link, name)
	}
	mode := before.mode.Perm()
	f, err := r.handle.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(before.text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
