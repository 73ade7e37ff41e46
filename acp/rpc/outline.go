package rpc

// outline is what is kept of a line that is too long to be served: the outermost members
// of its object with their short values, as JSON of its own. What is nested becomes an
// empty container of its kind, a long value an empty list and a long name an empty one.
// So the id is found wherever it stands, and the rules for messages are applied by
// parseMessage alone. What is nested is not checked, but for strings and brackets.
//
// It is written to piece by piece and holds no more than maxOutline bytes.
type outline struct {
	text  []byte
	start int    // of the string, number or word in text that is not at its end, or -1
	open  []byte // the containers around the next byte, '{' or '[' each; the outermost maxDepth
	depth int    // number of containers around the next byte

	inString, escaped bool
	long              bool // the value or name at start is long; the rest of it is dropped
	full              bool // text would have become too large
}

// The bounds of an outline and of a name or value in it. A longer value is not an id.
const (
	maxOutline = 64 << 10
	maxValue   = maxIDBytes + 1
)

func newOutline() *outline { return &outline{start: -1} }

// write takes the next bytes of the line.
func (o *outline) write(piece []byte) {
	for i := 0; i < len(piece) && !o.full; i++ {
		if o.inString && o.depth > 1 && !o.escaped {
			i += plainPrefix(piece[i:])
			if i == len(piece) {
				return
			}
		}
		o.next(piece[i])
	}
}

// plainPrefix is the number of bytes before the next quote or backslash.
func plainPrefix(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return len(text)
}

func (o *outline) next(c byte) {
	switch {
	case o.inString:
		o.keep(c)
		switch {
		case o.escaped:
			o.escaped = false
		case c == '\\':
			o.escaped = true
		case c == '"':
			o.inString = false
		}
	case c == '"':
		o.begin()
		o.keep(c)
		o.inString = true
	case c == '{', c == '[':
		o.enter(c)
	case c == '}', c == ']':
		o.leave(c)
	case c == ',', c == ':':
		o.end(c == ':')
		o.keep(c)
	case c == ' ', c == '\t', c == '\r':
		o.space()
	default:
		o.begin()
		o.keep(c)
	}
}

// begin notes where a name or value begins, unless it is in the middle of one.
func (o *outline) begin() {
	if o.start < 0 && o.depth <= 1 {
		o.start = len(o.text)
	}
}

// keep keeps a byte of the outermost object.
func (o *outline) keep(c byte) {
	switch {
	case o.depth > 1, o.long:
	case o.start >= 0 && len(o.text)-o.start >= maxValue:
		o.long = true
	case len(o.text) >= maxOutline:
		o.full = true
	default:
		o.text = append(o.text, c)
	}
}

// space keeps one space for any number of them.
func (o *outline) space() {
	if last := len(o.text) - 1; last >= 0 && o.text[last] != ' ' {
		o.keep(' ')
	}
}

// end ends a name or a value. A long one is put as an empty one.
func (o *outline) end(name bool) {
	if o.depth > 1 {
		return
	}
	if o.long {
		o.text = o.text[:o.start]
		if name {
			o.text = append(o.text, `""`...)
		} else {
			o.text = append(o.text, "[]"...)
		}
	}
	o.start, o.long = -1, false
}

func (o *outline) enter(c byte) {
	if o.depth < 2 {
		o.begin()
		o.keep(c)
	}
	if o.depth < maxDepth {
		o.open = append(o.open, c)
	}
	o.depth++
	if o.depth == 1 {
		o.start = -1 // the members follow
	}
}

func (o *outline) leave(c byte) {
	o.end(false)
	switch {
	case o.depth == 0, o.depth <= maxDepth && o.open[o.depth-1] != c-2:
		o.full = true // no JSON, so that no member can be trusted
		return
	case o.depth <= maxDepth:
		o.open = o.open[:o.depth-1]
	}
	o.depth--
	if o.depth < 2 {
		o.keep(c)
	}
}

// refusal is the answer to the line.
func (o *outline) refusal(text string) *refusal {
	r := refuse(nullID, CodeInvalidRequest, text)
	if o.full {
		return r
	}
	msg, refused := parseMessage(o.text)
	switch {
	case refused != nil:
		r.id, r.response = refused.id, refused.response
	case msg.isResponse():
		r.response = msg.id
	case msg.id != "":
		r.id = msg.id
	}
	return r
}
