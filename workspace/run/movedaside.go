package run

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"acp-agent/internal/rootfile"
	"acp-agent/internal/userfile"
)

// asideName is the directory, beside the sessions' directories, for what was moved out of the way:
// it outlives the session, for the user may have written it.
const asideName = "moved-aside"

// maxAsideText bounds the texts of one change that are kept to be shown, in bytes.
const maxAsideText = 64 << 10

// MovedAside is a protected file that a command changed without the user having been asked: what
// the command left is moved aside, and what stood there before is back (P5).
type MovedAside struct {
	// Path is the file, Kept what was moved aside from there.
	Path, Kept string
	// Before is the text that stands at Path again, nil where nothing stands there. After is
	// what was moved aside. Both are empty unless they are texts; see Text.
	Before *string
	After  string
	// Text says that Before and After are all that changed.
	Text bool
	// Late says that the command was stopped, and had its answer before.
	Late bool

	runner *Runner
	root   *rootfile.Dir
	name   string
	before kept
	had    bool
}

// moveAside puts back what stood at a name, or nothing, and moves aside whatever stands
// there at that moment: what comes out of the exchange is kept, also where the user has
// written it since it was looked at.
func (g *guard) moveAside(at *guardedRoot, name string, before kept, had bool) (MovedAside, error) {
	a := MovedAside{Path: at.abs(name), runner: g.runner, root: at.root, name: name, before: before, had: had}
	local := filepath.FromSlash(name)
	if had {
		if err := at.root.Handle.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			return a, err
		}
	}
	parent, err := at.root.Handle.OpenRoot(filepath.Dir(local))
	if errors.Is(err, fs.ErrNotExist) && !had {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	defer parent.Close()
	temp := ".acp-agent-" + strings.ToLower(rand.Text()) + ".tmp"
	came, err := swapOut(parent, temp, filepath.Base(local), before, had)
	if errors.Is(err, fs.ErrPermission) && restoreRights(at.root, path.Dir(name), changeable) {
		came, err = swapOut(parent, temp, filepath.Base(local), before, had)
	}
	if err != nil || !came {
		return a, err
	}
	now, err := lookAt(&rootfile.Dir{Handle: parent}, temp)
	fits := len(now.text)+len(before.text) <= maxAsideText
	if a.Text = err == nil && fits && now.mode.IsRegular() && !now.opaque && (!had || before.mode.IsRegular() && before.link == ""); a.Text {
		a.After = string(now.text)
		if text := string(before.text); had {
			a.Before = &text
		}
	}
	restoreRights(&rootfile.Dir{Handle: parent}, temp, changeable) // a directory that is moved to another is changed
	a.Kept, err = g.runner.keepAside(parent, temp, filepath.Base(local))
	if err != nil {
		a.Kept = filepath.Join(at.root.Path, filepath.Dir(local), temp) // it stays where it is
	}
	return a, nil
}

// swapOut gives a name what stood there before, or nothing, and what stands there now the
// name temp. came reports whether there was anything.
func swapOut(parent *os.Root, temp, name string, before kept, had bool) (came bool, err error) {
	if !had {
		err := parent.Rename(name, temp)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	if err := writeNew(&rootfile.Dir{Handle: parent}, temp, before); err != nil {
		_ = parent.Remove(temp)
		return false, err
	}
	const tries = 3 // the name may come and go meanwhile
	for range tries {
		err = rootfile.Exchange(parent, temp, name)
		if err == nil {
			return true, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			if err = rootfile.RenameNew(parent, temp, parent, name); err == nil {
				return false, nil
			}
		}
		if errors.Is(err, errors.ErrUnsupported) {
			return swapByHand(parent, temp, name)
		}
	}
	_ = parent.Remove(temp)
	return false, err
}

// swapByHand is an exchange in two steps, where the file system offers none in one.
func swapByHand(parent *os.Root, temp, name string) (came bool, err error) {
	out := temp + ".out"
	err = parent.Rename(name, out)
	if came = err == nil; !came && !errors.Is(err, fs.ErrNotExist) {
		_ = parent.Remove(temp)
		return false, err
	}
	if err = parent.Rename(temp, name); err != nil || !came {
		return came, err
	}
	return true, parent.Rename(out, temp)
}

// keepAside moves a file or directory to where it is kept, and says where that is.
func (r *Runner) keepAside(parent *os.Root, temp, name string) (string, error) {
	top := filepath.Join(r.w.Private.Parent(), asideName)
	if r.w.Private.Parent() == "" {
		if err := r.w.Private.Create(); err != nil {
			return "", err
		}
		top = filepath.Join(r.w.Private.Scratch(), asideName)
	}
	dir := filepath.Join(top, strings.ToLower(rand.Text()))
	if err := userfile.MakeDir(dir); err != nil {
		return "", err
	}
	to, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer to.Close()
	if err = rootfile.RenameNew(parent, temp, to, name); err != nil {
		if err = copyTree(parent, temp, to, name); err == nil {
			err = parent.RemoveAll(temp)
		}
	}
	return filepath.Join(dir, name), err
}

// copyTree copies what has a name to a name in another directory.
func copyTree(from *os.Root, name string, to *os.Root, newName string) error {
	return fs.WalkDir(from.FS(), filepath.ToSlash(name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest := strings.TrimPrefix(at, filepath.ToSlash(name))
		target := filepath.FromSlash(path.Join(newName, rest))
		switch {
		case d.IsDir():
			return to.Mkdir(target, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := from.Readlink(filepath.FromSlash(at))
			if err != nil {
				return err
			}
			return to.Symlink(link, target)
		case !d.Type().IsRegular():
			return errors.New(at + " is not a file")
		}
		return copyFile(from, filepath.FromSlash(at), to, target)
	})
}

func copyFile(from *os.Root, name string, to *os.Root, newName string) error {
	in, err := from.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := to.OpenFile(newName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close())
}

// ErrEdited says that a file was edited since a change of it was moved aside.
var ErrEdited = errors.New("it was edited meanwhile")

// Restore puts what was moved aside in its place, as the user decided. A file that is not
// as it was put back is left as it is, and so is what was moved aside: ErrEdited.
func (a MovedAside) Restore() error {
	local := filepath.FromSlash(a.name)
	if err := a.root.Handle.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	parent, err := a.root.Handle.OpenRoot(filepath.Dir(local))
	if err != nil {
		return err
	}
	defer parent.Close()
	kept, err := os.OpenRoot(filepath.Dir(a.Kept))
	if err != nil {
		return err
	}
	defer kept.Close()
	temp := ".acp-agent-" + strings.ToLower(rand.Text()) + ".tmp"
	aside := filepath.Base(a.Kept)
	// The file itself, not a copy of it: a program may still be writing to it.
	if err := rootfile.RenameNew(kept, aside, parent, temp); err != nil {
		if err := copyTree(kept, aside, parent, temp); err != nil {
			_ = parent.RemoveAll(temp)
			return err
		}
	}
	err = a.swapIn(parent, temp, filepath.Base(local))
	if _, gone := parent.Lstat(temp); gone != nil {
		return err
	}
	if err != nil && rootfile.RenameNew(parent, temp, kept, aside) == nil {
		return err
	}
	// What stood there, or what is kept already: either may be written to still.
	_, failed := a.runner.keepAside(parent, temp, filepath.Base(local))
	return errors.Join(err, failed)
}

// swapIn gives a name what temp is, if what stands there is what was put back.
func (a MovedAside) swapIn(parent *os.Root, temp, name string) error {
	if !a.had {
		err := rootfile.RenameNew(parent, temp, parent, name)
		if errors.Is(err, fs.ErrExist) {
			return ErrEdited
		}
		if errors.Is(err, errors.ErrUnsupported) {
			if _, err := parent.Lstat(name); err == nil {
				return ErrEdited
			}
			return parent.Rename(temp, name)
		}
		return err
	}
	if now, err := lookAt(&rootfile.Dir{Handle: parent}, name); err != nil || !now.same(a.before) {
		return ErrEdited
	}
	err := rootfile.Exchange(parent, temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return parent.Rename(temp, name)
	}
	if err != nil {
		return err
	}
	if out, err := lookAt(&rootfile.Dir{Handle: parent}, temp); err != nil || !out.same(a.before) {
		// It was edited between the look and the exchange.
		return errors.Join(ErrEdited, rootfile.Exchange(parent, temp, name))
	}
	return nil
}
