package record

import (
	"encoding/json"
	"strconv"
	"strings"

	"acp-agent/internal/jsonscan"
)

// leaf is a string value in a JSON text, with the place of its literal in the text.
type leaf struct {
	start, end int
	literal    string
}

// value returns the string of the literal.
func (l leaf) value() (text string, ok bool) {
	if strings.IndexByte(l.literal, '\\') < 0 {
		return l.literal[1 : len(l.literal)-1], true
	}
	return text, json.Unmarshal([]byte(l.literal), &text) == nil
}

// comesInPieces reports whether model servers or the protocol send texts with this name in pieces.
func comesInPieces(name []byte) bool {
	switch string(name) {
	case "text", "content", "delta", "reasoning", "reasoning_content", "reasoning_text", "thinking", "arguments", "partial_json",
		"refusal", "data", "Text", "Arguments":
		return true
	}
	return false
}

// walker finds the string values of JSON texts. It keeps what it allocates from one text to the next.
type walker struct {
	path   []byte // names and indexes down to the current value, with dots between
	levels []level
}

// level is an object or a list around the current value.
type level struct {
	list  bool
	key   bool // the next string is the name of a member
	index int  // of the current element
	base  int  // the length of the path to it
}

// strings calls found for each string value of a JSON text, with its path and the last name in it, which are
// valid until found returns. In a text that is not JSON it may find some strings.
func (w *walker) strings(text string, found func(path, name []byte, l leaf)) {
	w.path, w.levels = w.path[:0], w.levels[:0]
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{', '[':
			w.enter(text[at] == '[')
		case '}', ']':
			if len(w.levels) == 0 {
				return
			}
			w.levels = w.levels[:len(w.levels)-1]
		case ',':
			w.nextValue()
		case '"':
			size := jsonscan.StringEndIn(text[at:])
			if size < 0 {
				return
			}
			l := leaf{at, at + size, text[at : at+size]}
			if n := len(w.levels) - 1; n >= 0 && w.levels[n].key {
				w.setName(l.literal[1 : size-1])
			} else {
				found(w.path, w.lastName(), l)
			}
			at += size - 1
		}
	}
}

// enter starts an object or a list.
func (w *walker) enter(list bool) {
	w.levels = append(w.levels, level{list: list, key: !list, base: len(w.path)})
	if list {
		w.setName("0")
	}
}

// nextValue prepares for the next member or element.
func (w *walker) nextValue() {
	if len(w.levels) == 0 {
		return
	}
	l := &w.levels[len(w.levels)-1]
	if !l.list {
		l.key = true
		return
	}
	l.index++
	w.path = strconv.AppendInt(append(w.path[:l.base], '.'), int64(l.index), 10)
}

// setName sets the name of the current value.
func (w *walker) setName(name string) {
	l := &w.levels[len(w.levels)-1]
	l.key = false
	w.path = append(append(w.path[:l.base], '.'), name...)
}

// lastName returns the name of the current value; nil when the text is a single string.
func (w *walker) lastName() []byte {
	if len(w.levels) == 0 {
		return nil
	}
	return w.path[w.levels[len(w.levels)-1].base+1:]
}
