package textedit

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	contextLines = 3
	// maxDiffLines bounds what is compared line by line, after the common head
	// and tail are gone. Above it the whole middle is shown as replaced.
	maxDiffLines = 20_000
)

// Unified is the git-style diff from old to new of the file at path, "" when
// they are equal (R39). "git apply" takes it. The path is written below a/ and
// b/, without a leading slash.
func Unified(path, old, new string) string {
	if old == new {
		return ""
	}
	a, b := quotePath("a/", path), quotePath("b/", path)
	header := "diff --git " + a + " " + b + "\n"
	hunks, err := udiff.ToUnified(tabBlank(a), tabBlank(b), old, lineEdits(old, new), contextLines)
	if err != nil {
		// Edits made from old and new cannot contradict old.
		return header + fmt.Sprintf("--- %s\n+++ %s\n", a, b)
	}
	return header + hunks
}

// lineEdits compares what stands between the common head and tail of whole lines.
func lineEdits(old, new string) []udiff.Edit {
	head := commonPrefix(old, new)
	head = strings.LastIndexByte(old[:head], '\n') + 1
	tail := commonSuffix(old[head:], new[head:])
	if i := strings.IndexByte(old[len(old)-tail:], '\n'); i >= 0 {
		tail -= i + 1
	} else {
		tail = 0
	}
	was, now := old[head:len(old)-tail], new[head:len(new)-tail]
	if strings.Count(was, "\n")+strings.Count(now, "\n") > maxDiffLines {
		return []udiff.Edit{{Start: head, End: len(old) - tail, New: now}}
	}
	edits := udiff.Lines(was, now)
	for i := range edits {
		edits[i].Start += head
		edits[i].End += head
	}
	return edits
}

// quotePath writes a path as git does in a header: in C quotes where it holds
// bytes that could be misread.
func quotePath(prefix, path string) string {
	path = prefix + strings.TrimLeft(filepath.ToSlash(path), "/")
	var quoted strings.Builder
	needed := false
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			needed = true
			quoted.WriteByte('\\')
			quoted.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			needed = true
			octal := strconv.FormatUint(uint64(c), 8)
			quoted.WriteString(`\` + strings.Repeat("0", 3-len(octal)) + octal)
		default:
			quoted.WriteByte(c)
		}
	}
	if !needed {
		return path
	}
	return `"` + quoted.String() + `"`
}

// tabBlank ends a label that holds a blank with a tab, so that a reader does
// not take the rest for a time.
func tabBlank(label string) string {
	if strings.Contains(label, " ") && !strings.HasPrefix(label, `"`) {
		return label + "\t"
	}
	return label
}
