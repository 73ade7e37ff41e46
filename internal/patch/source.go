package patch

import (
	"context"
	"strings"
)

// stride is after how many lines the end of a context is looked for.
const stride = 1024

// source is the text of a patch by lines, without their line feeds. Index i is
// line i+1 of what the model wrote.
type source struct {
	lines []string
	// envelope says that the text has the "*** Begin Patch" form.
	envelope bool
	// ended reports whether the reading is to stop.
	ended func() bool
	looks int
	over  bool
}

// stopped is asked for each line, and looks for the end now and then.
func (s *source) stopped() bool {
	s.looks++
	s.over = s.over || s.looks%stride == 0 && s.ended()
	return s.over
}

// newSource splits the text. Where its headers end in CR, the text as a whole
// was written with CRLF and the CRs say nothing about the files; where only the
// lines of hunks do, they belong to them.
func newSource(ctx context.Context, text string) source {
	text = strings.TrimPrefix(text, "\ufeff")
	s := source{ended: func() bool { return ctx.Err() != nil }, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for i, line := range s.lines {
		if s.stopped() {
			break
		}
		plain := strings.TrimSuffix(line, "\r")
		s.envelope = isEnvelope(plain)
		if !s.envelope && !strings.HasPrefix(plain, "diff --git ") && !s.namesAt(i) {
			continue
		}
		if plain != line {
			for j := range s.lines {
				s.lines[j] = strings.TrimSuffix(s.lines[j], "\r")
			}
		}
		break
	}
	return s
}

// at is a line, "" beyond the end.
func (s source) at(i int) string {
	if i >= len(s.lines) {
		return ""
	}
	return s.lines[i]
}

// namesAt reports whether the two lines of names stand at i.
func (s source) namesAt(i int) bool {
	return strings.HasPrefix(s.at(i), "--- ") && strings.HasPrefix(s.at(i+1), "+++ ")
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
