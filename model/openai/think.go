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
	// before and after are what stood around the reasoning; given says that they were
	// asked for.
	before, after string
	given         bool
}

type thinkState int

const (
	thinkUndecided thinkState = iota
	thinkOpened               // right after the opening tag
	thinkInside
	thinkBetween // after the closing tag, before the first text
	thinkDone
)

// split returns the reasoning and the text that are certain by now.
func (t *thinking) split(piece string) (reasoning, text string) {
	t.held += piece
	if t.state == thinkUndecided {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkOpen):
			t.before = t.held[:len(t.held)-len(begin)] + thinkOpen
			t.state, t.held = thinkOpened, begin[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, begin):
			return "", ""
		default:
			t.state = thinkDone
		}
	}
	if t.state == thinkOpened && t.held != "" {
		inside := strings.TrimPrefix(t.held, "\n")
		t.before += t.held[:len(t.held)-len(inside)]
		t.state, t.held = thinkInside, inside
	}
	if t.state == thinkInside {
		inside, after, closed := strings.Cut(t.held, thinkClose)
		if !closed {
			keep := heldBack(inside, thinkClose)
			t.held = inside[len(inside)-keep:]
			return inside[:len(inside)-keep], ""
		}
		reasoning, t.state, t.held, t.after = inside, thinkBetween, after, thinkClose
	}
	if t.state == thinkBetween {
		text := strings.TrimLeft(t.held, "\r\n")
		t.after += t.held[:len(t.held)-len(text)]
		if t.held = text; t.held == "" {
			return reasoning, ""
		}
		t.state = thinkDone
	}
	text, t.held = t.held, ""
	return reasoning, text
}

// rest returns what is held back when the answer ends.
func (t *thinking) rest() (reasoning, text string) {
	held, state := t.held, t.state
	t.held, t.state = "", thinkDone
	if state == thinkInside {
		return held, ""
	}
	return "", held
}

// found reports whether the text had the opening tag.
func (t *thinking) found() bool { return t.before != "" }

// tags returns, once, what stands before and after the reasoning, when all of that is
// known: the text has started, or there is none.
func (t *thinking) tags() []string {
	if t.given || t.after == "" || t.state != thinkDone {
		return nil
	}
	t.given = true
	return []string{t.before, t.after}
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
