package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/kinds"
)

const (
	// treeLines bounds a rendered tree, treeEntries the files, and likewise the
	// directories, that are shown of one directory.
	treeLines   = 200
	treeEntries = 40
	// treeDepth is how deep a tree is shown when it is small enough.
	treeDepth = 6
)

// fileTree is a directory with all that is beneath it.
type fileTree struct {
	dirs  map[string]*fileTree
	files []string
	total int // files beneath it
}

// newFileTree makes a tree of names with slashes, which are sorted.
func newFileTree(names []string) *fileTree {
	root := &fileTree{}
	for _, name := range names {
		at := root
		at.total++
		for dir, rest, more := strings.Cut(name, "/"); more; dir, rest, more = strings.Cut(name, "/") {
			if at.dirs == nil {
				at.dirs = map[string]*fileTree{}
			}
			if at.dirs[dir] == nil {
				at.dirs[dir] = &fileTree{}
			}
			at, name = at.dirs[dir], rest
			at.total++
		}
		at.files = append(at.files, name)
	}
	return root
}

// directories counts those beneath the tree.
func (t *fileTree) directories() int {
	n := len(t.dirs)
	for _, dir := range t.dirs {
		n += dir.directories()
	}
	return n
}

// render shows the tree as deep as treeLines allow. Directories that are not
// opened say how many files they have.
func (t *fileTree) render() string {
	var lines []string
	for depth := treeDepth; depth > 0; depth-- {
		if lines = t.lines(nil, "", depth); len(lines) <= treeLines {
			break
		}
	}
	return strings.Join(lines[:min(len(lines), treeLines)], "\n")
}

// lines appends the lines of a directory that may be opened depth levels deep.
// It stops once there are too many.
func (t *fileTree) lines(lines []string, indent string, depth int) []string {
	for i, name := range slices.Sorted(maps.Keys(t.dirs)) {
		if len(lines) > treeLines {
			return lines
		}
		if i == treeEntries {
			lines = append(lines, fmt.Sprintf("%s... %d more directories", indent, len(t.dirs)-i))
			break
		}
		dir := t.dirs[name]
		label := indent + kinds.Line(name, overviewName) + "/"
		if depth == 1 {
			lines = append(lines, fmt.Sprintf("%s (%d files)", label, dir.total))
			continue
		}
		lines = dir.lines(append(lines, label), indent+"  ", depth-1)
	}
	for i, name := range t.files {
		if i == treeEntries {
			return append(lines, fmt.Sprintf("%s... %d more files", indent, len(t.files)-i))
		}
		lines = append(lines, indent+kinds.Line(name, overviewName))
	}
	return lines
}
