package gitignore

import (
	"bytes"
	"strings"
)

// Verdict is what one file says about a path.
type Verdict int

const (
	// None means that no pattern matches: the next outer file decides.
	None Verdict = iota
	// Ignore means that the path is ignored.
	Ignore
	// Include means that a negated pattern takes the path in again.
	Include
)

// File is one parsed ignore file. The zero value ignores nothing.
type File struct {
	patterns []pattern
}

// Parse reads an ignore file. It never fails: a line that git would not
// understand matches nothing, as with git.
func Parse(content []byte) *File {
	f := &File{}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(content) {
		text := strings.TrimSuffix(string(line), "\n")
		text = strings.TrimSuffix(text, "\r")
		// git reads the file as C strings.
		text, _, _ = strings.Cut(text, "\x00")
		if p, ok := parsePattern(text); ok {
			f.patterns = append(f.patterns, p)
		}
	}
	return f
}

// Empty reports whether the file has no pattern at all.
func (f *File) Empty() bool { return len(f.patterns) == 0 }

// Match judges a path relative to the directory that holds the ignore file,
// with forward slashes and no leading or trailing one. The last pattern that
// matches decides.
func (f *File) Match(path string, isDir bool) Verdict {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(f.patterns) - 1; i >= 0; i-- {
		p := &f.patterns[i]
		if p.dirOnly && !isDir || !p.match(path, base) {
			continue
		}
		if p.negated {
			return Include
		}
		return Ignore
	}
	return None
}
