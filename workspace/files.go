package workspace

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/search"
	"acp-agent/tools"
)

// files is the file system as one call may use it.
type files struct {
	*Call
	view view
}

// maxEntries bounds what a listing holds in memory. A directory with more is
// sorted as far as it was read.
const (
	maxEntries = 1 << 18
	entryBatch = 4096
)

// Stat describes a path. It says of a secret that it exists, and no more than
// a listing of its directory would.
func (f files) Stat(ctx context.Context, path string) (tools.FileInfo, error) {
	var out tools.FileInfo
	err := f.at(ctx, "stat", path, false, func(p *place) error {
		if !p.exists() {
			return fs.ErrNotExist
		}
		info, err := p.lstat()
		if err != nil {
			return err
		}
		out = tools.FileInfo{
			Path: p.asked, Real: p.real(), Size: info.Size(), Mode: info.Mode(),
			ModTime: info.ModTime(), IsDir: info.IsDir(),
		}
		return nil
	})
	return out, err
}

// Readlink tells where a link leads, wherever that is: what it says is a name.
func (f files) Readlink(ctx context.Context, path string) (target string, err error) {
	err = f.where(ctx, "read link", path, false, f.w.followName, func(p *place) error {
		if !p.exists() {
			return nil
		}
		info, err := p.dir.Lstat(p.name)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, err = p.dir.Readlink(p.name)
		}
		return moved(err)
	})
	return target, err
}

// List returns a directory's entries sorted by name.
func (f files) List(ctx context.Context, path string, limit int) (entries []tools.DirEntry, more bool, err error) {
	err = f.open(ctx, "list", path, func(p *place) error {
		if p.root.only != "" {
			return f.w.outside(p.trail, false)
		}
		found, cut, err := readDir(ctx, p)
		if err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		if limit > 0 && len(found) > limit {
			found, cut = found[:limit], true
		}
		entries, more = make([]tools.DirEntry, 0, len(found)), cut
		for _, e := range found {
			entries = append(entries, tools.DirEntry{Name: e.Name(), IsDir: e.IsDir() || f.leadsToDir(p, e)})
		}
		return nil
	})
	return entries, more, err
}

// readDir reads a directory, at most maxEntries of it.
func readDir(ctx context.Context, p *place) (found []fs.DirEntry, cut bool, err error) {
	dir, err := p.openDir()
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	handle, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer handle.Close()
	for len(found) < maxEntries {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		batch, err := handle.ReadDir(entryBatch)
		found = append(found, batch...)
		if err == io.EOF {
			return found, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return found, true, nil
}

// leadsToDir reports whether a link leads to a directory that the call may use.
// Of others it tells nothing.
func (f files) leadsToDir(p *place, e fs.DirEntry) bool {
	if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return false
	}
	t, err := follow(filepath.Join(p.real(), e.Name()))
	if err != nil || !t.isDir() {
		return false
	}
	r, _ := pick(f.check.usable(f.id), t, false)
	return r != nil
}

// Open opens a regular file on disk.
func (f files) Open(ctx context.Context, path string) (tools.File, error) {
	var out *os.File
	err := f.open(ctx, "open", path, func(p *place) (err error) {
		out, err = p.openFile()
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Dir opens a directory for searching.
func (f files) Dir(ctx context.Context, path string) (search.Dir, error) {
	var out search.Dir
	err := f.open(ctx, "open", path, func(p *place) error {
		if p.root.only != "" {
			return f.w.outside(p.trail, false)
		}
		dir, err := p.openDir()
		if err != nil {
			return err
		}
		defer dir.Close()
		out, err = search.FromRoot(dir)
		return err
	})
	return out, err
}

// Lock waits for the lock of the file that a path leads to, or of the name when
// that is a link which leads nowhere, such as to itself. Close waits for the holder: a change that is under way may have to be taken back.
func (f files) Lock(ctx context.Context, path string) (unlock func(), err error) {
	abs := f.w.abs(path)
	real, err := f.lockedPath(abs)
	if err != nil {
		return nil, err
	}
	release, err := f.w.o.Locks.Lock(ctx, real)
	if err != nil {
		return nil, err
	}
	end, ok := f.w.inFlight.start()
	if !ok {
		release()
		return nil, endedError(abs)
	}
	return sync.OnceFunc(func() {
		release()
		end()
	}), nil
}

// lockedPath is the path that the lock of a file has: where the file really is. Where the
// call was judged for it, whatever reads or writes the file finds out whether it still is
// there.
func (f files) lockedPath(abs string) (string, error) {
	if to, ok := f.judgedTarget(abs); ok && to.trail != nil {
		return to.Real, nil
	}
	t, err := f.w.follow(abs)
	if err != nil {
		if t, err = f.w.followName(abs); err != nil {
			return "", err
		}
	}
	return t.real(), nil
}

// SecretName implements tools.FS.
func (f files) SecretName(path string) bool { return f.w.SecretName(path) }

// Hidden implements tools.FS. The workspace knows no rules.
func (files) Hidden(string) bool { return false }

// Secret reports whether a path names a secret, as it is written or where it
// leads.
func (f files) Secret(path string) bool {
	abs := f.w.abs(path)
	if to, ok := f.judgedTarget(abs); ok {
		return to.Secret
	}
	return f.w.leadsToSecret(abs)
}
