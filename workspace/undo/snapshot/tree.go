package snapshot

import (
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/rootfile"
)

// Bounds are how far one look goes.
type Bounds struct {
	// Entries bounds the names that are listed, Listing the time that this takes.
	Entries int
	Listing time.Duration
	// FileBytes bounds one file that is copied, Bytes all together, Copying the time that one
	// look takes for it.
	FileBytes, Bytes int64
	Copying          time.Duration
}

// DefaultBounds are the bounds of doc.go.
func DefaultBounds() Bounds {
	return Bounds{Entries: 50_000, Listing: time.Second, FileBytes: 16 << 20, Bytes: 256 << 20, Copying: 3 * time.Second}
}

// Options are what a Tree is made of.
type Options struct {
	// Roots are the session's directories.
	Roots []rootfile.Dir
	// Secret reports whether an absolute path names a secret, which is not read; nil means
	// that there are none.
	Secret func(path string) bool
	// Held reports whether a directory, while it is empty, does not count; nil means that all do.
	Held func(dir string) bool
	// Dir returns the private directory for the copies.
	Dir func() (*os.Root, error)
	// Bounds are how far a look goes; the zero value means DefaultBounds.
	Bounds Bounds
}

// Tree is the session's directories as the last look saw them. It is safe for concurrent use.
type Tree struct {
	o Options

	mu   sync.Mutex // held during a look
	last *walk      // nil before the first
	pack pack
}

// New makes a tree. It touches no disk.
func New(o Options) *Tree {
	if o.Secret == nil {
		o.Secret = func(string) bool { return false }
	}
	if o.Held == nil {
		o.Held = func(string) bool { return false }
	}
	if o.Bounds == (Bounds{}) {
		o.Bounds = DefaultBounds()
	}
	return &Tree{o: o, pack: pack{dir: o.Dir}}
}

// Diff is a name that another look saw otherwise; nil stands for nothing.
type Diff struct {
	// Path is absolute, in a session's directory.
	Path          string
	Before, After *Entry
}

// Look is what one look found.
type Look struct {
	// Diffs are what changed since the last look, sorted by path: those of a directory after
	// the directory itself. The first look has none.
	Diffs []Diff
	// Skipped is what was not looked at.
	Skipped Skipped
}

// Refresh looks at the directories. use is called with what it found while the copies of all
// entries can still be read by Reader; nil means no call.
func (t *Tree) Refresh(ctx context.Context, use func(Look)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.list(ctx)
	t.read(ctx, now)
	look := Look{Diffs: diffs(t.last, now), Skipped: now.skipped(t.o.Roots)}
	if use != nil {
		use(look)
	}
	if t.last != nil {
		now.adopt(t.last)
	}
	t.last = now
	t.pack.trim(now, t.o.Bounds.Bytes)
}

// adopt takes over what the look before knew of directories that this one did not come to.
func (w *walk) adopt(before *walk) {
	if w.cut == "" {
		return
	}
	for dir, entries := range before.dirs {
		if w.dirs[dir] == nil && !w.lacks(dir) && !w.ignored[dir] {
			w.dirs[dir] = entries
		}
	}
}

// diffs compares two looks as far as both saw the same directories.
func diffs(before, now *walk) []Diff {
	if before == nil {
		return nil
	}
	var list []Diff
	for dir, was := range before.dirs {
		is, seen := now.dirs[dir]
		if seen || now.lacks(dir) {
			list = appendDiffs(list, dir, was, is)
		}
	}
	for dir, is := range now.dirs {
		if before.dirs[dir] == nil && before.lacks(dir) {
			list = appendDiffs(list, dir, nil, is)
		}
	}
	slices.SortFunc(list, func(a, b Diff) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func appendDiffs(list []Diff, dir string, before, now names) []Diff {
	for name, was := range before {
		if is := now[name]; !was.same(is) {
			list = append(list, Diff{filepath.Join(dir, name), was, is})
		}
	}
	for name, is := range now {
		if before[name] == nil {
			list = append(list, Diff{filepath.Join(dir, name), nil, is})
		}
	}
	return list
}

// job is the files of one directory that are to be copied.
type job struct {
	place
	files map[string]*Entry
}

// read gives the entries of a look their copies: those of the look before where nothing changed,
// else new ones.
func (t *Tree) read(ctx context.Context, now *walk) {
	var jobs []job
	for dir, entries := range now.dirs {
		j := job{place: now.where[dir], files: map[string]*Entry{}}
		for name, e := range entries {
			var was *Entry
			if t.last != nil {
				was = t.last.dirs[dir][name]
			}
			if was != nil && e.isAsBefore(was) && !was.isToBeRead() {
				entries[name] = was
				continue
			}
			if e.IsFile() || e.IsLink() {
				j.files[name] = e
			}
		}
		if len(j.files) > 0 {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return
	}
	slices.SortFunc(jobs, func(a, b job) int {
		return cmp.Or(strings.Count(a.path, string(filepath.Separator))-strings.Count(b.path, string(filepath.Separator)), strings.Compare(a.path, b.path))
	})
	c := copying{tree: t, ctx: ctx, end: time.Now().Add(t.o.Bounds.Copying)}
	forEach(jobs, c.directory)
	t.pack.flush()
}

// copying is the part of a look that makes copies.
type copying struct {
	tree *Tree
	ctx  context.Context
	end  time.Time
}

// directory copies files of one directory.
func (c *copying) directory(j job) {
	dir, err := j.root.Handle.OpenRoot(j.rel)
	if err == nil {
		defer dir.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(j.files)) {
		e := j.files[name]
		switch {
		case err != nil:
			e.Lack = Unreadable
		case e.IsLink():
			if e.Target, err = dir.Readlink(name); err != nil {
				e.Lack, err = Unreadable, nil
			}
		default:
			e.Lack = c.file(dir, name, filepath.Join(j.path, name), e)
		}
	}
}

// file copies one file.
func (c *copying) file(dir *os.Root, name, path string, e *Entry) Lack {
	bounds := c.tree.o.Bounds
	switch {
	case c.tree.o.Secret(path):
		return Secret
	case e.Size > bounds.FileBytes:
		return TooLarge
	case c.ctx.Err() != nil || time.Now().After(c.end):
		return TooLate
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return Unreadable
	}
	defer f.Close()
	e.read = time.Now().UnixNano()
	// A file that changes while it is read is read again by the next look: it is not settled.
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Unreadable
	}
	if now := newEntry(info); !now.isAsBefore(e) {
		if now.Inode != e.Inode {
			return Unreadable
		}
		read := e.read
		*e = *now
		e.read = read
	}
	return c.tree.pack.add(f, e, bounds)
}

// Reader reads the copy of a file, unchecked. It is for the time of a look, see Refresh.
func (t *Tree) Reader(e *Entry) io.Reader { return t.pack.reader(e) }
