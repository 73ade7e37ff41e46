package undo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/gitignore"
	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
)

// The bounds of one look at the session's directories (R128).
const (
	scanEntries = 20_000
	scanTime    = 150 * time.Millisecond
	scanIgnore  = 1 << 20 // bytes of one .gitignore
	scanNamed   = 5       // names of directories in the line of what was left out
)

// FileChange is a file that changed between two looks.
type FileChange struct {
	// Path is absolute, in a session's directory.
	Path string
	Kind journal.Kind
}

// Scan is the session's directories as they were at one moment: names, sizes,
// times, modes and identities, no content. So it shows that a command changed a
// file, and can restore nothing: only what was changed through the file tools has a
// pre-image.
type Scan struct {
	h     *History
	mark  int
	first walk
}

// walk is one look at the session's directories.
type walk struct {
	dirs    map[string]map[string]fs.FileInfo // by directory, then name
	ignored map[string]bool                   // directories left out by name or rule
	ignores map[string]*gitignore.File
	seen    int
	// cut says why the walk ended before its end; "" when it did not.
	cut string
}

// Look looks at the session's directories before a command (R128). It walks at
// most 20,000 entries and 150 ms, and stops early when ctx ends.
func (h *History) Look(ctx context.Context) *Scan {
	s := &Scan{h: h, mark: h.Mark()}
	s.first = h.walk(ctx, nil)
	return s
}

// Changed looks again and returns what changed, sorted by path: regular files
// and links, not directories, and not what this session's tools themselves
// changed meanwhile. skipped is one line that says what was not looked at, ""
// when nothing was left out.
func (s *Scan) Changed(ctx context.Context) (changes []FileChange, skipped string) {
	now := s.h.walk(ctx, &s.first)
	own := s.h.Since(s.mark)
	for dir, before := range s.first.dirs {
		after, seen := now.dirs[dir]
		if !seen && !now.without(dir) {
			continue // nothing is known of it
		}
		changes = appendChanges(changes, dir, before, after)
	}
	for dir, after := range now.dirs {
		if _, known := s.first.dirs[dir]; !known && s.first.without(dir) {
			changes = appendChanges(changes, dir, nil, after)
		}
	}
	changes = slices.DeleteFunc(changes, func(c FileChange) bool { return own[c.Path] })
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return changes, s.skipped(&now)
}

func appendChanges(changes []FileChange, dir string, before, after map[string]fs.FileInfo) []FileChange {
	for name, was := range before {
		is, still := after[name]
		path := filepath.Join(dir, name)
		switch {
		case was.IsDir():
		case !still || is.IsDir():
			changes = append(changes, FileChange{path, journal.Deleted})
		case !rootfile.SameMoment(was, is) || was.Mode() != is.Mode():
			changes = append(changes, FileChange{path, journal.Modified})
		}
	}
	for name, is := range after {
		if was, known := before[name]; !is.IsDir() && (!known || was.IsDir()) {
			changes = append(changes, FileChange{filepath.Join(dir, name), journal.Created})
		}
	}
	return changes
}

// without reports whether a directory that was not walked was not there: the
// nearest one above it that was walked did not have it.
func (l *walk) without(dir string) bool {
	for {
		parent, name := filepath.Dir(dir), filepath.Base(dir)
		if entries, seen := l.dirs[parent]; seen {
			info, there := entries[name]
			return !there || !info.IsDir()
		}
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// skipped says what neither look, or only one of them, saw.
func (s *Scan) skipped(now *walk) string {
	var left []string
	for _, r := range s.h.o.Roots {
		for _, dir := range slices.Sorted(maps.Keys(now.ignored)) {
			if rel, ok := pathname.Rel(r.Path, dir); ok {
				left = append(left, filepath.ToSlash(rel)+"/")
			}
		}
	}
	left = slices.Compact(left)
	if more := len(left) - scanNamed; more > 0 {
		left = append(left[:scanNamed], fmt.Sprintf("%d more ignored directories", more))
	}
	cut := s.first.cut
	if cut == "" {
		cut = now.cut
	}
	if cut != "" {
		left = append(left, "everything beyond "+cut)
	}
	if len(left) == 0 {
		return ""
	}
	return "not looked at: " + strings.Join(left, ", ")
}

// walk walks the session's directories, the outer ones first. A second look goes no
// further than the first.
func (h *History) walk(ctx context.Context, first *walk) walk {
	l := walk{dirs: map[string]map[string]fs.FileInfo{}, ignored: map[string]bool{}, ignores: map[string]*gitignore.File{}}
	end := time.Now().Add(scanTime)
	var queue []scanned
	for _, r := range h.o.Roots {
		queue = append(queue, scanned{root: r, rel: ".", path: r.Path})
	}
	for ; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if _, twice := l.dirs[here.path]; twice {
			continue // a root within another one
		}
		if first != nil && first.cut != "" && first.dirs[here.path] == nil && !first.without(here.path) {
			continue
		}
		switch {
		case ctx.Err() != nil:
			l.cut = "the moment at which it was stopped"
		case l.seen >= scanEntries:
			l.cut = fmt.Sprintf("the first %d entries", scanEntries)
		case time.Now().After(end):
			l.cut = fmt.Sprintf("what %v allowed for", scanTime)
		}
		if l.cut != "" {
			return l
		}
		queue = append(queue, l.read(here)...)
	}
	return l
}

// scanned is one directory of a walk.
type scanned struct {
	root      rootfile.Dir
	rel, path string
}

// read looks at one directory and returns those below it that are walked.
func (l *walk) read(d scanned) (below []scanned) {
	dir, err := d.root.Handle.Open(d.rel)
	if err != nil {
		return nil
	}
	defer dir.Close()
	batch, err := dir.ReadDir(scanEntries - l.seen + 1)
	if err != nil && err != io.EOF {
		return nil
	}
	entries := make(map[string]fs.FileInfo, len(batch))
	for _, entry := range batch {
		if info, err := entry.Info(); err == nil {
			entries[entry.Name()] = info
		}
	}
	l.seen += len(batch)
	if l.seen > scanEntries {
		l.cut = fmt.Sprintf("the first %d entries", scanEntries)
		return nil // half a directory would show files as deleted
	}
	l.dirs[d.path] = entries
	if _, has := entries[".gitignore"]; has {
		l.ignores[d.path] = readIgnore(d)
	}
	for name, info := range entries {
		sub := scanned{root: d.root, rel: filepath.Join(d.rel, name), path: filepath.Join(d.path, name)}
		switch {
		case !info.IsDir():
		case name == ".git" || name == "node_modules" || l.isIgnored(d, sub.path):
			l.ignored[sub.path] = true
		default:
			below = append(below, sub)
		}
	}
	slices.SortFunc(below, func(a, b scanned) int { return strings.Compare(a.path, b.path) })
	return below
}

// isIgnored asks the .gitignore files from the directory up to its root.
func (l *walk) isIgnored(d scanned, path string) bool {
	for dir := d.path; ; dir = filepath.Dir(dir) {
		if file := l.ignores[dir]; file != nil {
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

func readIgnore(d scanned) *gitignore.File {
	f, err := d.root.Handle.OpenFile(filepath.Join(d.rel, ".gitignore"), os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > scanIgnore {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f, scanIgnore))
	if err != nil {
		return nil
	}
	return gitignore.Parse(content)
}
