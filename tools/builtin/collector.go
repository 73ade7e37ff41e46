package builtin

import (
	"sync"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// collector keeps a command's output: all of it while it is small enough to
// return, then its first and last part, with the whole in a sidecar (R56).
// It may be written to from another goroutine than the one that asks for the
// view, also after that.
type collector struct {
	show func([]byte)

	mu       sync.Mutex
	limits   tools.Limits
	whole    *spool
	total    int64
	over     bool
	head     []byte
	tail     []byte
	finished bool
}

// view is a command's output as it is returned.
type view struct {
	// text is all of it, or its end when it was cut.
	text string
	// cut says that head comes before text and something between was left out.
	cut     bool
	head    string
	omitted int64
	path    string
	note    string
}

func newCollector(rt tools.Runtime) *collector {
	c := &collector{show: rt.Progress, limits: rt.Session().Limits}
	c.whole = &spool{rt: rt, limit: c.capacity()}
	return c
}

// capacity is how many bytes are held before the output is known to be cut.
func (c *collector) capacity() int {
	if c.limits.TailOnly {
		return c.tailBytes()
	}
	return c.limits.BashBytes
}

// tailBytes is the most that the characters of the tail can take.
func (c *collector) tailBytes() int { return c.limits.BashTail * utf8.UTFMax }

func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return len(p), nil
	}
	c.show(p)
	c.total += int64(len(p))
	if !c.over && c.total > int64(c.capacity()) {
		c.divide()
	}
	if c.over {
		c.keepEnds(p)
	}
	return c.whole.Write(p)
}

// divide goes over from keeping everything to keeping the two ends.
func (c *collector) divide() {
	c.over = true
	c.keepEnds(c.whole.buf)
}

func (c *collector) keepEnds(p []byte) {
	if room := c.limits.BashBytes - len(c.head); room > 0 && !c.limits.TailOnly {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	c.tail = append(c.tail, p...)
	// Moving the tail down only now and then keeps the copying small.
	if most := c.tailBytes(); len(c.tail) > most+chunkBytes {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-most:]...)
	}
}

// finish ends the collection; what is written later is dropped.
func (c *collector) finish() view {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = true
	if !c.over && c.limits.TailOnly && utf8.RuneCount(c.whole.buf) > c.limits.BashTail {
		c.divide()
	}
	if !c.over {
		return view{text: cleanOutput(string(c.whole.buf))}
	}
	tail := lastRunes(c.tail, c.limits.BashTail)
	var head []byte
	if !c.limits.TailOnly {
		if over := len(tail) - c.limits.BashBytes; over > 0 {
			lead, _ := splitEdges(tail[over:], true, false)
			tail = tail[over+lead:]
		}
		head = textcut.Whole(c.head[:min(len(c.head), c.limits.BashBytes-len(tail))])
	}
	v := view{
		cut: true, head: cleanOutput(string(head)), text: cleanOutput(string(tail)),
		omitted: c.total - int64(len(head)) - int64(len(tail)),
	}
	v.path, v.note = c.whole.keep("output")
	return v
}

// lastRunes returns the last n characters of text; a byte that is not UTF-8
// counts as one.
func lastRunes(text []byte, n int) []byte {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return text[at:]
}
