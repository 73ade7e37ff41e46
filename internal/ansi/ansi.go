package ansi

import (
	"strings"
	"unicode/utf8"
)

// Style is how a terminal shows a text.
type Style struct {
	Bold, Dim, Italic, Underline, Strike bool
	// Inverse exchanges the two colours.
	Inverse                bool
	Foreground, Background Color
}

// Span is a text in one style.
type Span struct {
	Text  string
	Style Style
}

// Spans returns the text of a terminal's output as it stood in the end. No span is empty, and
// their texts together hold no escape sequence.
func Spans(text string) []Span {
	if !strings.ContainsAny(text, "\x1b\r\b\a") {
		if text == "" {
			return nil
		}
		return []Span{{Text: text}}
	}
	s := screen{}
	for text != "" {
		text = s.next(text)
	}
	return s.spans()
}

// Text is the text of Spans without the styles.
func Text(text string) string {
	var b strings.Builder
	for _, span := range Spans(text) {
		b.WriteString(span.Text)
	}
	return b.String()
}

// cell is one character on a line.
type cell struct {
	text  string // a rune, or a byte that is none
	style Style
}

// screen writes lines one after the other. Only the last can still change.
type screen struct {
	done  []Span
	line  []cell
	at    int // where the next character is written in line
	style Style
}

// next takes one character or sequence off the text.
func (s *screen) next(text string) (rest string) {
	switch text[0] {
	case 0x1b:
		return s.escape(text[1:])
	case '\n':
		s.put("\n", len(s.line))
		s.endLine()
		return text[1:]
	case '\r':
		s.at = 0
		return text[1:]
	case '\b':
		s.at = max(0, s.at-1)
		return text[1:]
	case '\a':
		return text[1:]
	}
	_, size := utf8.DecodeRuneInString(text)
	s.put(text[:size], s.at)
	s.at++
	return text[size:]
}

func (s *screen) put(text string, at int) {
	c := cell{text, s.style}
	if at < len(s.line) {
		s.line[at] = c
		return
	}
	s.line = append(s.line, c)
}

// endLine moves the line to what is done.
func (s *screen) endLine() {
	var text strings.Builder
	for i, c := range s.line {
		text.WriteString(c.text)
		if i+1 < len(s.line) && s.line[i+1].style == c.style {
			continue
		}
		s.append(Span{text.String(), c.style})
		text.Reset()
	}
	s.line, s.at = s.line[:0], 0
}

func (s *screen) append(span Span) {
	s.done = append(s.done, span)
}

// spans returns all of it, neighbours of one style joined.
func (s *screen) spans() []Span {
	s.endLine()
	var joined []Span
	for from := 0; from < len(s.done); {
		to := from + 1
		for to < len(s.done) && s.done[to].Style == s.done[from].Style {
			to++
		}
		var text strings.Builder
		for _, span := range s.done[from:to] {
			text.WriteString(span.Text)
		}
		joined = append(joined, Span{text.String(), s.done[from].Style})
		from = to
	}
	return joined
}

// escape takes a sequence off the text, which begins after its ESC.
func (s *screen) escape(text string) (rest string) {
	if text == "" {
		return ""
	}
	switch text[0] {
	case '[':
		return s.control(text[1:])
	case ']', 'P', 'X', '^', '_':
		return afterString(text[1:])
	}
	end := 0
	for end < len(text) && text[end] >= 0x20 && text[end] <= 0x2f {
		end++ // intermediate bytes, as in the choice of a character set
	}
	if end < len(text) && text[end] >= 0x30 && text[end] <= 0x7e {
		end++
	}
	return text[end:]
}

// control takes the rest of a CSI sequence off the text.
func (s *screen) control(text string) (rest string) {
	end := 0
	for end < len(text) && text[end] >= 0x20 && text[end] <= 0x3f {
		end++
	}
	if end == len(text) || text[end] < 0x40 || text[end] > 0x7e {
		return text[end:] // it was cut
	}
	switch text[end] {
	case 'm':
		s.style.apply(text[:end])
	case 'K':
		s.erase(text[:end])
	}
	return text[end+1:]
}

// erase is what programs do to a line before they write it again.
func (s *screen) erase(how string) {
	switch how {
	case "", "0":
		s.line = s.line[:min(s.at, len(s.line))]
	case "2":
		s.line, s.at = s.line[:0], 0
	}
}

// afterString is what follows a control string, such as the title of a window: it ends with BEL
// or ST. One without an end is a stray ESC, and its text is text.
func afterString(text string) string {
	for i := range len(text) {
		switch {
		case text[i] == '\a':
			return text[i+1:]
		case text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\':
			return text[i+2:]
		case text[i] == '\n', text[i] == 0x1b:
			return text[i:]
		}
	}
	return ""
}
