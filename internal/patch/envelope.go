package patch

import "strings"

// The lines of an envelope that begin its parts.
const (
	envelopeBegin = "*** Begin Patch"
	envelopeEnd   = "*** End Patch"
	addFile       = "*** Add File: "
	updateFile    = "*** Update File: "
	deleteFile    = "*** Delete File: "
	moveTo        = "*** Move to: "
	endOfFile     = "*** End of File"
)

// isEnvelope reports whether a line can only be the first of an envelope.
func isEnvelope(line string) bool {
	for _, prefix := range []string{envelopeBegin, addFile, updateFile, deleteFile} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// envelope reads the form that has names and hunks but no line numbers.
type envelope struct {
	source
	i     int
	files []FileChange
}

// readEnvelope is the whole way of an envelope. What stands around it is prose.
func readEnvelope(src source) ([]FileChange, error) {
	e := envelope{source: src}
	prose := true
	for e.i < len(e.lines) && !e.stopped() {
		switch line := e.lines[e.i]; {
		case strings.TrimSpace(line) == envelopeEnd:
			prose = true
			e.i++
		case prose && (e.namesAt(e.i) || strings.HasPrefix(line, "diff --git ")):
			return nil, errorf(e.i+1, "", "a patch has one form: either lines \"--- name\" and \"+++ name\" or lines \"*** Update File: name\"")
		case prose && !isEnvelope(line):
			e.i++
		default:
			prose = false
			if err := e.next(); err != nil {
				return nil, err
			}
		}
	}
	return e.files, nil
}

// next reads one file, or passes over a line that says nothing.
func (e *envelope) next() error {
	line := e.lines[e.i]
	f := FileChange{Line: e.i + 1}
	e.i++
	if name, ok := strings.CutPrefix(line, addFile); ok {
		f.Op, f.Path = Create, strings.TrimSpace(name)
		return e.add(f)
	}
	if name, ok := strings.CutPrefix(line, updateFile); ok {
		f.Op, f.Path = Modify, strings.TrimSpace(name)
		return e.update(f)
	}
	if name, ok := strings.CutPrefix(line, deleteFile); ok {
		f.Op, f.Path = Delete, strings.TrimSpace(name)
		e.files = append(e.files, f)
		return nil
	}
	if isBlank(line) || strings.HasPrefix(line, envelopeBegin) || strings.HasPrefix(line, "```") {
		return nil
	}
	return errorf(f.Line, "", "%.60q begins no part of a patch: expected \"*** Update File: name\", \"*** Add File: name\" or \"*** Delete File: name\"", line)
}

// ends reports whether the line at i belongs to no body.
func (e *envelope) ends() bool {
	return e.i >= len(e.lines) || e.stopped() || strings.HasPrefix(e.lines[e.i], "*** ") || strings.HasPrefix(e.lines[e.i], "```")
}

// add reads the lines of a new file.
func (e *envelope) add(f FileChange) error {
	h := Hunk{Line: f.Line}
	for ; !e.ends(); e.i++ {
		line := e.lines[e.i]
		text, marked := strings.CutPrefix(line, "+")
		if !marked && line != "" {
			return errorf(e.i+1, f.Path, "every line of an added file begins with +, unlike %.60q", line)
		}
		h.Lines = append(h.Lines, Line{Added, text + "\n"})
	}
	trimEmpty(&h, e.lines[:e.i])
	if len(h.Lines) > 0 {
		f.Hunks = []Hunk{h}
	}
	e.files = append(e.files, f)
	return nil
}

// update reads the hunks of a changed file.
func (e *envelope) update(f FileChange) error {
	if name, ok := strings.CutPrefix(e.at(e.i), moveTo); ok {
		f.Op, f.NewPath = Rename, strings.TrimSpace(name)
		e.i++
	}
	for {
		for e.i < len(e.lines) && e.lines[e.i] == "" {
			e.i++
		}
		if e.ends() {
			break
		}
		h, err := e.hunk(f.Path)
		if err != nil {
			return err
		}
		f.Hunks = append(f.Hunks, h)
	}
	if f.Op == Modify && len(f.Hunks) == 0 {
		return errorf(f.Line, f.Path, "the file has no hunk, which begins with a line \"@@\"")
	}
	e.files = append(e.files, f)
	return nil
}

// hunk reads lines "@@" with what it stands below, then the body.
func (e *envelope) hunk(path string) (Hunk, error) {
	h := Hunk{Line: e.i + 1}
	for ; strings.HasPrefix(e.at(e.i), "@@"); e.i++ {
		line := e.lines[e.i]
		if n, ok := hunkNumbers(line); ok {
			h.Start, h.Numbered = n.start, true
		} else if anchor := strings.TrimSpace(strings.Trim(line, "@")); anchor != "" && anchor != "..." {
			h.Anchors = append(h.Anchors, anchor)
		}
	}
	for ; !e.ends() && !strings.HasPrefix(e.lines[e.i], "@@"); e.i++ {
		if _, ok := h.addLine(e.lines[e.i]); !ok {
			return h, errorf(e.i+1, path, "%.60q is no line of a hunk, which begins with a blank, + or -", e.lines[e.i])
		}
	}
	trimEmpty(&h, e.lines[:e.i])
	if e.at(e.i) == endOfFile {
		h.AtEnd = true
		e.i++
	}
	return h, h.check(path)
}

// trimEmpty takes empty lines off the end of a hunk: they separate it from what
// follows.
func trimEmpty(h *Hunk, lines []string) {
	n := 0
	for n < len(h.Lines) && lines[len(lines)-1-n] == "" {
		n++
	}
	h.Lines = h.Lines[:len(h.Lines)-n]
}
