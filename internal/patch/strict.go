package patch

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// strict is a unified diff in strict form, made of hunks with true counts and
// of stand-ins for names, since names were read already. from[i] is the line of
// the model's patch that line i+1 came from.
type strict struct {
	text strings.Builder
	from []int
	// ended reports whether the reading is to stop.
	ended func() bool
}

// endable is a text until ended.
type endable struct {
	*strings.Reader
	ended func() bool
}

func (r endable) Read(p []byte) (int, error) {
	if r.ended() {
		return 0, io.EOF
	}
	return r.Reader.Read(p)
}

func (s *strict) add(from int, line string) {
	s.text.WriteString(line + "\n")
	s.from = append(s.from, from)
}

// readStrictly fills in the hunks of the changes.
func readStrictly(ended func() bool, files []*rawFile, changes []FileChange) error {
	s := strict{ended: ended}
	var with []int // the changes that have hunks
	for i, f := range files {
		if len(f.hunks) == 0 {
			continue
		}
		with = append(with, i)
		if err := s.file(f, changes[i]); err != nil {
			return err
		}
	}
	if len(with) == 0 {
		return nil
	}
	parsed, _, err := gitdiff.Parse(endable{strings.NewReader(s.text.String()), ended})
	if err != nil {
		return s.located(err)
	}
	if len(parsed) != len(with) {
		return errorf(0, "", "the patch has %d files with hunks, of which %d could be read", len(with), len(parsed))
	}
	for k, i := range with {
		if changes[i].Hunks, err = takeHunks(files[i], parsed[k]); err != nil {
			return err
		}
	}
	return nil
}

// file writes one file with what its hunks may hold: a new one has no old
// lines, a deleted one no new ones.
func (s *strict) file(f *rawFile, c FileChange) error {
	old, new := "old", "old"
	switch c.Op {
	case Create:
		old = devNull
	case Delete:
		new = devNull
	}
	s.add(f.line, "--- "+old)
	s.add(f.line, "+++ "+new)
	for i, h := range f.hunks {
		if i%stride == 0 && s.ended() {
			return nil
		}
		var n numbers
		changed := false
		for i, line := range h.body {
			n = n.less(line)
			changed = changed || line != "" && (line[0] == '+' || line[0] == '-')
			if c.Op == Create && (line == "" || line[0] == ' ') || c.Op == Delete && strings.HasPrefix(line, "+") {
				return errorf(h.first+i, c.Path, "a file that is %sd has only lines of one kind, + when new and - when deleted", c.Op)
			}
		}
		if !changed {
			return errorf(h.line, c.Path, "the hunk changes nothing: it has no line with + or -")
		}
		s.add(h.line, fmt.Sprintf("@@ -%d,%d +%d,%d @@", min(1, -n.old), -n.old, min(1, -n.new), -n.new))
		for i, line := range h.body {
			s.add(h.first+i, mark(line))
		}
	}
	return nil
}

// mark spells a body line in the one way that every reader takes.
func mark(line string) string {
	switch {
	case line == "":
		return " "
	case strings.HasPrefix(line, `\ `):
		return `\ No newline at end of file`
	}
	return line
}

var gitdiffLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gitdiff: line (\d+): (.*)`) })

// located leads an error of the library back to the line of the patch.
func (s *strict) located(err error) error {
	m := gitdiffLine().FindStringSubmatch(err.Error())
	if m == nil {
		return errorf(0, "", "%v", err)
	}
	n, convErr := strconv.Atoi(m[1])
	if convErr != nil || n < 1 || n > len(s.from) {
		return errorf(0, "", "%s", m[2])
	}
	return errorf(s.from[n-1], "", "%s", m[2])
}

// takeHunks translates the library's hunks; where they stand is as the model
// wrote it.
func takeHunks(f *rawFile, parsed *gitdiff.File) ([]Hunk, error) {
	if len(parsed.TextFragments) != len(f.hunks) {
		return nil, errorf(f.line, f.name(), "not every hunk could be read")
	}
	hunks := make([]Hunk, len(f.hunks))
	for i, raw := range f.hunks {
		h := Hunk{Start: raw.numbers.start, Numbered: raw.numbered, Line: raw.line}
		for _, l := range parsed.TextFragments[i].Lines {
			h.Lines = append(h.Lines, Line{lineOp(l.Op), l.Line})
		}
		if err := h.checkEnds(f.name()); err != nil {
			return nil, err
		}
		hunks[i] = h
	}
	return hunks, nil
}

func lineOp(op gitdiff.LineOp) LineOp {
	switch op {
	case gitdiff.OpAdd:
		return Added
	case gitdiff.OpDelete:
		return Removed
	}
	return Context
}

var errNoEnd = errors.New(`"\ No newline at end of file" belongs below the last old or the last new line of a file`)

// checkEnds lets only the last old and the last new line have no line feed.
func (h Hunk) checkEnds(path string) error {
	for _, other := range []LineOp{Added, Removed} {
		open := false
		for _, l := range h.Lines {
			if l.Op == other {
				continue
			}
			if open {
				return errorf(h.Line, path, "%v", errNoEnd)
			}
			open = !strings.HasSuffix(l.Text, "\n")
		}
	}
	return nil
}
