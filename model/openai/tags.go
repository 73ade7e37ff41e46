package openai

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// tagSplitter splits the text of an answer that begins with <think>…</think>. A
// tag may come in pieces, so what could become one is held back.
type tagSplitter struct {
	state tagState
	held  string
	// before and after are what stood around the reasoning; given says that around has
	// returned them.
	before, after string
	given         bool
}

type tagState int

const (
	tagUndecided tagState = iota
	tagOpened             // right after the opening tag
	tagInside
	tagBetween // after the closing tag, before the first text
	tagDone
)

// split returns the reasoning and the text that are certain by now.
func (t *tagSplitter) split(piece string) (reasoning, text string) {
	t.held += piece
	if t.state == tagUndecided {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, openTag):
			t.before = t.held[:len(t.held)-len(begin)] + openTag
			t.state, t.held = tagOpened, begin[len(openTag):]
		case strings.HasPrefix(openTag, begin):
			return "", ""
		default:
			t.state = tagDone
		}
	}
	if t.state == tagOpened && t.held != "" {
		inside := strings.TrimPrefix(t.held, "\n")
		t.before += t.held[:len(t.held)-len(inside)]
		t.state, t.held = tagInside, inside
	}
	if t.state == tagInside {
		inside, after, closed := strings.Cut(t.held, closeTag)
		if !closed {
			keep := heldBack(inside, closeTag)
			t.held = inside[len(inside)-keep:]
			return inside[:len(inside)-keep], ""
		}
		reasoning, t.state, t.held, t.after = inside, tagBetween, after, closeTag
	}
	if t.state == tagBetween {
		text := strings.TrimLeft(t.held, "\r\n")
		t.after += t.held[:len(t.held)-len(text)]
		if t.held = text; t.held == "" {
			return reasoning, ""
		}
		t.state = tagDone
	}
	text, t.held = t.held, ""
	return reasoning, text
}

// rest returns what is held back when the answer ends.
func (t *tagSplitter) rest() (reasoning, text string) {
	held, state := t.held, t.state
	t.held, t.state = "", tagDone
	if state == tagInside {
		return held, ""
	}
	return "", held
}

// found reports whether the text had the opening tag.
func (t *tagSplitter) found() bool { return t.before != "" }

// around returns, once, what stands before and after the reasoning, when all of that is
// known: the text has started, or there is none.
func (t *tagSplitter) around() []string {
	if t.given || t.after == "" || t.state != tagDone {
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
