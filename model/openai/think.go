package openai

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinking splits the text of an answer that begins with <think>…</think>. A
// tag may come in pieces, so what could become one is held back.
type thinking struct {
	state thinkState
	held  string
}

type thinkState int

const (
	thinkUndecided thinkState = iota
	thinkOpened               // right behind the opening tag
	thinkInside
	thinkBetween // behind the closing tag, before the first text
	thinkDone
)

// split returns the reasoning and the text that are certain by now.
func (t *thinking) split(piece string) (reasoning, text string) {
	t.held += piece
	if t.state == thinkUndecided {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkOpen):
			t.state, t.held = thinkOpened, begin[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, begin):
			return "", ""
		default:
			t.state = thinkDone
		}
	}
	if t.state == thinkOpened && t.held != "" {
		t.state, t.held = thinkInside, strings.TrimPrefix(t.held, "\n")
	}
	if t.state == thinkInside {
		inside, after, closed := strings.Cut(t.held, thinkClose)
		if !closed {
			keep := heldBack(inside, thinkClose)
			t.held = inside[len(inside)-keep:]
			return inside[:len(inside)-keep], ""
		}
		reasoning, t.state, t.held = inside, thinkBetween, after
	}
	if t.state == thinkBetween {
		t.held = strings.TrimLeft(t.held, "\r\n")
		if t.held == "" {
			return reasoning, ""
		}
		t.state = thinkDone
	}
	text, t.held = t.held, ""
	return reasoning, text
}

// rest returns what is held back when the answer ends.
func (t *thinking) rest() (reasoning, text string) {
	held := t.held
	t.held = ""
	if t.state == thinkInside {
		return held, ""
	}
	return "", held
}

// heldBack is the length of the longest end of text that begins tag.
func heldBack(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
