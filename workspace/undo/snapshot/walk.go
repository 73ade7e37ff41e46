package snapshot

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/internal/gitignore"
	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
)

const (
	ignoreBytes = 1 << 20 // of one .gitignore
	namedDirs   = 5       // in the line of what was left out
	readers     = 4       // goroutines of a look
)

// names are the entries of one directory.
type names map[string]*Entry

// walk is one listing of the session's directories.
type walk struct {
	ctx    context.Context
	bounds Bounds
	held   func(dir string) bool
	end    time.Time
	seen   atomic.Int64

	mu      sync.Mutex // guards what follows while a level is read
	dirs    map[string]names
	where   map[string]place // of the directories
	ignored map[string]bool  // directories left out by name or rule
	ignores map[string]*gitignore.File
	// cut says why the walk ended before its end; "" when it did not.
	cut string
}

// place is one directory of a walk.
type place struct {
	root      rootfile.Dir
	rel, path string
}

// list walks the session's directories, the outermost first.
func (t *Tree) list(ctx context.Context) *walk {
	w := &walk{
		ctx: ctx, bounds: t.o.Bounds, held: t.o.Held, end: time.Now().Add(t.o.Bounds.Listing),
		dirs: map[string]names{}, where: map[string]place{}, ignored: map[string]bool{}, ignores: map[string]*gitignore.File{},
	}
	var level []place
	for _, r := range t.o.Roots {
		level = append(level, place{root: r, rel: ".", path: r.Path})
	}
	for len(level) > 0 && w.cut == "" {
		level = w.readAll(level)
	}
	return w
}

// readAll reads the directories of one level, and returns those of the next.
func (w *walk) readAll(level []place) (below []place) {
	var todo []place
	for _, d := range level {
		_, twice := w.where[d.path] // a root within another one
		if !twice {
			w.where[d.path] = d
			todo = append(todo, d)
		}
	}
	forEach(todo, func(d place) {
		more := w.read(d)
		w.mu.Lock()
		defer w.mu.Unlock()
		below = append(below, more...)
	})
	slices.SortFunc(below, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return below
}

// forEach calls do for all of a list, on a few goroutines, and waits.
func forEach[T any](list []T, do func(T)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(readers, len(list)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				do(list[i])
			}
		})
	}
	all.Wait()
}

// stop ends the walk when it is at a bound.
func (w *walk) stop() bool {
	why := ""
	switch {
	case w.ctx.Err() != nil:
		why = "the moment at which it was stopped"
	case w.seen.Load() > int64(w.bounds.Entries):
		why = fmt.Sprintf("the first %d entries", w.bounds.Entries)
	case time.Now().After(w.end):
		why = fmt.Sprintf("what %v allowed for", w.bounds.Listing)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut == "" {
		w.cut = why
	}
	return w.cut != ""
}

// read lists one directory, and returns those below it that are walked.
func (w *walk) read(d place) (below []place) {
	if w.stop() {
		return nil
	}
	dir, err := d.root.Handle.Open(d.rel)
	if err != nil {
		return nil
	}
	defer dir.Close()
	batch, err := dir.ReadDir(w.bounds.Entries + 1)
	if err != nil && err != io.EOF {
		return nil
	}
	w.seen.Add(int64(len(batch)))
	if w.stop() {
		return nil // half a directory would show files as deleted
	}
	entries := make(names, len(batch))
	for _, entry := range batch {
		if info, err := entry.Info(); err == nil {
			entries[entry.Name()] = newEntry(info)
		}
	}
	for name, entry := range entries {
		if entry.IsDir() && w.held(filepath.Join(d.path, name)) && isEmpty(d, name) {
			delete(entries, name)
		}
	}
	var ignore *gitignore.File
	if entries[".gitignore"] != nil {
		ignore = readIgnore(d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirs[d.path], w.ignores[d.path] = entries, ignore
	for name, entry := range entries {
		sub := place{root: d.root, rel: filepath.Join(d.rel, name), path: filepath.Join(d.path, name)}
		switch {
		case name == ".git":
			w.ignored[sub.path] = true
			delete(entries, name) // what git keeps of itself is not put back
		case !entry.IsDir():
		case name == "node_modules" || w.isIgnored(d, sub.path):
			w.ignored[sub.path] = true
		default:
			below = append(below, sub)
		}
	}
	return below
}

// isEmpty reports whether there is nothing in a directory.
func isEmpty(d place, name string) bool {
	dir, err := d.root.Handle.Open(filepath.Join(d.rel, name))
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.ReadDir(1)
	return err == io.EOF
}

// isIgnored asks the .gitignore files from the directory up to its root. The caller holds mu.
func (w *walk) isIgnored(d place, path string) bool {
	for dir := d.path; ; dir = filepath.Dir(dir) {
		if file := w.ignores[dir]; file != nil {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return false
			}
			if verdict := file.Match(filepath.ToSlash(rel), true); verdict != gitignore.None {
				return verdict == gitignore.Ignore
			}
		}
		if dir == d.root.Path || dir == filepath.Dir(dir) {
			return false
		}
	}
}

func readIgnore(d place) *gitignore.File {
	f, err := d.root.Handle.OpenFile(filepath.Join(d.rel, ".gitignore"), os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > ignoreBytes {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f, ignoreBytes))
	if err != nil {
		return nil
	}
	return gitignore.Parse(content)
}

// lacks reports whether a directory that was not walked was not there: the nearest one above it
// that was walked did not have it.
func (w *walk) lacks(dir string) bool {
	for {
		parent, name := filepath.Dir(dir), filepath.Base(dir)
		if entries, seen := w.dirs[parent]; seen {
			return !entries[name].IsDir()
		}
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// Skipped is what a look did not look at.
type Skipped struct {
	// Ignored are directories that were left out by name or rule, with their paths below their
	// roots.
	Ignored []string
	// Cut says how far the look went when it came to a bound; "" when it did not.
	Cut string
}

// Line says it in one line, "" when nothing was left out.
func (s Skipped) Line() string {
	left := s.Ignored
	if more := len(left) - namedDirs; more > 0 {
		left = append(slices.Clone(left[:namedDirs]), fmt.Sprintf("%d more ignored directories", more))
	}
	if s.Cut != "" {
		left = append(slices.Clip(left), "everything beyond "+s.Cut)
	}
	return strings.Join(left, ", ")
}

func (w *walk) skipped(roots []rootfile.Dir) Skipped {
	var left []string
	for _, r := range roots {
		for _, dir := range slices.Sorted(maps.Keys(w.ignored)) {
			if rel, ok := pathname.Rel(r.Path, dir); ok {
				left = append(left, filepath.ToSlash(rel)+"/")
			}
		}
	}
	return Skipped{Ignored: slices.Compact(left), Cut: w.cut}
}
