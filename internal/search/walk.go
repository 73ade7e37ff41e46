package search

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"acp-agent/internal/gitignore"
)

const (
	maxIgnoreFile = 1 << 20 // bytes of one ignore file that are read
	maxEntries    = 2 << 20 // entries one walk looks at
	maxDepth      = 512     // directories open at once along one path
	batchSize     = 32      // files of one directory handed on together
)

// A walker visits the files below a directory in the order of their paths'
// bytes, leaving out what hidden and ignore rules hide.
type walker struct {
	base     string
	hidden   bool
	noIgnore bool
	ignore   []IgnoreFile
	// keepFile judges a file by its directory relative to base (with a trailing
	// slash unless empty) and its name, keepDir a directory by name and depth.
	keepFile func(rel, name string) bool
	keepDir  func(name string, depth int) bool
	// visit gets the files in order. It owns one reference to b.dir.
	visit func(b batch) error

	seen       int
	truncated  bool
	unreadable int
}

// A batch is a run of files of one directory; rel is its path below base, with
// a trailing slash unless empty.
type batch struct {
	dir   *sharedDir
	rel   string
	names []string
}

// A sharedDir is closed by its last user.
type sharedDir struct {
	Dir
	users atomic.Int32
}

func (d *sharedDir) retain() *sharedDir { d.users.Add(1); return d }

func (d *sharedDir) release() {
	if d.users.Add(-1) == 0 {
		d.Close() //nolint:errcheck // opened for reading: nothing to lose
	}
}

// walk visits everything below root, which stays open. Its error is that of
// ctx or visit.
func (w *walker) walk(ctx context.Context, root Dir) error {
	shared := &sharedDir{Dir: root}
	shared.retain() // the caller's own reference: never the last
	levels, prefix := w.outerLevels()
	if !w.noIgnore {
		if f := readExclude(root); f != nil {
			levels = slices.Insert(levels, 0, ignoreLevel{f, len(prefix)})
		}
	}
	return w.dir(ctx, shared, "", prefix, levels, 0)
}

// dir visits one directory. full is its path below the outermost ignore file.
func (w *walker) dir(ctx context.Context, d *sharedDir, rel, prefix string, levels []ignoreLevel, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := d.ReadDir()
	switch {
	case errors.Is(err, ErrDirTooBig):
		w.truncated = true
	case err != nil:
		w.unreadable++
	}
	levels = w.enter(d, entries, len(prefix)+len(rel), levels)
	kept, err := w.filter(ctx, entries, rel, prefix, levels, depth)
	if err != nil {
		return err
	}
	var names []string
	flush := func() error {
		if len(names) == 0 {
			return nil
		}
		b := batch{dir: d.retain(), rel: rel, names: names}
		names = nil
		return w.visit(b)
	}
	for _, e := range kept {
		name, isDir := strings.CutSuffix(e, "/")
		if !isDir {
			if names = append(names, name); len(names) == batchSize {
				if err := flush(); err != nil {
					return err
				}
			}
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := w.sub(ctx, d, name, rel, prefix, levels, depth); err != nil {
			return err
		}
	}
	return flush()
}

func (w *walker) sub(ctx context.Context, d *sharedDir, name, rel, prefix string, levels []ignoreLevel, depth int) error {
	if depth >= maxDepth {
		w.truncated = true
		return nil
	}
	sub, err := d.Sub(name)
	if err != nil {
		w.unreadable++
		return nil //nolint:nilerr // counted: one bad directory does not end a search
	}
	shared := (&sharedDir{Dir: sub}).retain()
	defer shared.release()
	return w.dir(ctx, shared, rel+name+"/", prefix, levels, depth+1)
}

// filter returns the names to visit, directories with a slash after, in order.
// The slash makes the order that of whole paths.
func (w *walker) filter(ctx context.Context, entries []fs.DirEntry, rel, prefix string, levels []ignoreLevel, depth int) ([]string, error) {
	var kept []string
	for _, e := range entries {
		if ctx.Err() != nil { // rules of ignore files can make each entry dear
			return nil, ctx.Err()
		}
		if w.seen++; w.seen > maxEntries {
			w.truncated = true
			break
		}
		name, isDir := e.Name(), e.IsDir()
		if name == ".git" || !w.hidden && name[0] == '.' || !isDir && !e.Type().IsRegular() {
			continue
		}
		if isDir && !w.keepDir(name, depth) || !isDir && !w.keepFile(rel, name) {
			continue
		}
		if len(levels) > 0 && ignored(levels, prefix+rel+name, isDir) {
			continue
		}
		if isDir {
			name += "/"
		}
		kept = append(kept, name)
	}
	slices.Sort(kept)
	return kept, nil
}

// An ignoreLevel is one ignore file and how much of a full path stands before
// the part its patterns judge.
type ignoreLevel struct {
	file *gitignore.File
	skip int
}

// ignored asks the innermost file first; the first with an opinion decides.
func ignored(levels []ignoreLevel, full string, isDir bool) bool {
	for _, l := range slices.Backward(levels) {
		switch l.file.Match(full[l.skip:], isDir) {
		case gitignore.Ignore:
			return true
		case gitignore.Include:
			return false
		}
	}
	return false
}

// enter adds the directory's own ignore file to the levels.
func (w *walker) enter(d Dir, entries []fs.DirEntry, skip int, levels []ignoreLevel) []ignoreLevel {
	if w.noIgnore {
		return nil
	}
	own := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == ".gitignore" && e.Type().IsRegular()
	})
	if !own {
		return levels
	}
	f := readIgnore(d, ".gitignore")
	if f == nil {
		return levels
	}
	return append(slices.Clip(levels), ignoreLevel{f, skip})
}

// outerLevels takes up the ignore files from above the base. prefix leads from
// the outermost of them down to the base and ends in a slash unless empty.
func (w *walker) outerLevels() (levels []ignoreLevel, prefix string) {
	if w.noIgnore {
		return nil, ""
	}
	base := filepath.ToSlash(w.base)
	for _, f := range w.ignore {
		dir := strings.TrimSuffix(filepath.ToSlash(f.Dir), "/")
		below, ok := strings.CutPrefix(base+"/", dir+"/")
		if !ok {
			continue
		}
		if prefix == "" {
			prefix = below
		}
		if file := gitignore.Parse(f.Content); !file.Empty() && len(prefix) >= len(below) {
			levels = append(levels, ignoreLevel{file, len(prefix) - len(below)})
		}
	}
	return levels, prefix
}

// readExclude reads .git/info/exclude, nil where there is none.
func readExclude(root Dir) *gitignore.File {
	git, err := root.Sub(".git")
	if err != nil {
		return nil
	}
	defer git.Close()
	info, err := git.Sub("info")
	if err != nil {
		return nil
	}
	defer info.Close()
	return readIgnore(info, "exclude")
}

// readIgnore reads an ignore file, nil where it is unreadable or has no pattern.
func readIgnore(d Dir, name string) *gitignore.File {
	f, err := d.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	if file := gitignore.Parse(content); !file.Empty() {
		return file
	}
	return nil
}

// printedDir is the printed path of a directory, with a separator after it.
func printedDir(base, rel string) string {
	if filepath.Separator != '/' {
		base, rel = filepath.Clean(base), filepath.FromSlash(rel)
	}
	if !strings.HasSuffix(base, string(filepath.Separator)) {
		base += string(filepath.Separator)
	}
	return base + rel
}
