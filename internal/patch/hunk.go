package patch

import (
	"slices"
	"strings"
)

// readHunks judges the hunks of a file and reads their lines. Where they stand is as the
// model wrote it.
func (f *rawFile) readHunks(c FileChange, ended func() bool) ([]Hunk, error) {
	var hunks []Hunk
	for _, raw := range f.hunks {
		h, err := raw.read(c, ended)
		if err == nil {
			err = h.check(c.Path)
		}
		if err != nil {
			return nil, err
		}
		hunks = append(hunks, h)
	}
	return hunks, nil
}

// read reads the lines of a hunk, until ended: a created file has no old lines, and a
// deleted one no new ones.
func (raw rawHunk) read(c FileChange, ended func() bool) (Hunk, error) {
	h := Hunk{Start: raw.numbers.start, Numbered: raw.numbered, Line: raw.line}
	for i, line := range raw.body {
		if i%stride == 0 && ended() {
			break
		}
		op, _ := h.addLine(line) // bodyEnd let no other lines in
		if c.Op == Create && (op == Context || op == Removed) || c.Op == Delete && (op == Context || op == Added) {
			return Hunk{}, errorf(raw.first+i, c.Path, "a file that is %sd has only lines of one kind, + when new and - when deleted", c.Op)
		}
	}
	return h, nil
}

// noLineFeed is the mark of "\ No newline at end of file", which programs write in the
// language of their user.
const noLineFeed LineOp = '\\'

// addLine adds a line of the body, and returns its mark; ok is false when it has none. An
// empty line is a line of context whose blank was lost.
func (h *Hunk) addLine(line string) (op LineOp, ok bool) {
	if line == "" {
		line = " "
	}
	switch op = LineOp(line[0]); op {
	case Context, Added, Removed:
		h.Lines = append(h.Lines, Line{op, line[1:] + "\n"})
	case noLineFeed:
		if n := len(h.Lines); n > 0 {
			h.Lines[n-1].Text = strings.TrimSuffix(h.Lines[n-1].Text, "\n")
		}
	default:
		return op, false
	}
	return op, true
}

// check refuses a hunk that changes nothing, and lets only the last old and the last new
// line have no line feed.
func (h Hunk) check(path string) error {
	if !slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Op != Context }) {
		return errorf(h.Line, path, "the hunk changes nothing: it has no line with + or -")
	}
	for _, other := range []LineOp{Added, Removed} {
		open := false
		for _, l := range h.Lines {
			if l.Op == other {
				continue
			}
			if open {
				return errorf(h.Line, path, `"\ No newline at end of file" belongs below the last old or the last new line of a file`)
			}
			open = !strings.HasSuffix(l.Text, "\n")
		}
	}
	return nil
}
