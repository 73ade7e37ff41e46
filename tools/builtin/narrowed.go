package builtin

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/search"
)

// maxCandidates bounds the files that a search is narrowed to. With more, it is
// not narrowed.
const maxCandidates = 500_000

// candidates are files below a directory.
type candidates struct {
	root *branch
	size int
}

// branch is a directory, or a file when nothing is below it.
type branch struct{ below map[string]*branch }

func newCandidates() *candidates { return &candidates{root: &branch{}} }

// add takes a path with slashes. One that leads nowhere does no harm: a search
// meets only what its directory lists.
func (c *candidates) add(name string) {
	if c.size++; c.tooMany() {
		c.root = nil
		return
	}
	at := c.root
	for part := range strings.SplitSeq(name, "/") {
		if at.below == nil {
			at.below = map[string]*branch{}
		}
		if at.below[part] == nil {
			at.below[part] = &branch{}
		}
		at = at.below[part]
	}
}

func (c *candidates) tooMany() bool { return c.size > maxCandidates }

// belowHere turns a path as ripgrep prints it for "." into one below the
// directory, with slashes.
func belowHere(printed string) (name string, bad bool) {
	name, ok := strings.CutPrefix(filepath.ToSlash(printed), "./")
	return name, !ok || name == ""
}

// narrowed is a directory in which only the candidates are seen, the
// directories that lead to them, and the ignore files that rule over them.
type narrowed struct {
	search.Dir
	keep *branch
}

// ReadDir lists what is seen.
func (d narrowed) ReadDir() ([]fs.DirEntry, error) {
	entries, err := d.Dir.ReadDir()
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return d.keep.below[e.Name()] == nil && e.Name() != ".gitignore"
	}), err
}

// Sub opens a sub-directory; one that is not seen, such as .git, is whole.
func (d narrowed) Sub(name string) (search.Dir, error) {
	sub, err := d.Dir.Sub(name)
	keep := d.keep.below[name]
	if err != nil || keep == nil {
		return sub, err
	}
	return narrowed{sub, keep}, nil
}
