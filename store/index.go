package store

import (
	"encoding/json"

	"acp-agent/transcript"
)

// span is the place of a line's data in the file.
type span struct {
	at   int64
	size int
}

// mark is the data of a line with the number of the line.
type mark struct {
	seq int64
	span
}

// refusedData is the data of an opHide line of a refusal; that of an undo is empty.
const refusedData = `{"refused":true}`

// conversation is the index of the messages of the session, or of one subagent.
type conversation struct {
	list   []*entry
	byID   map[string]*entry
	record span // the subagent's childForm
}

func newConversation() *conversation { return &conversation{byID: map[string]*entry{}} }

// entry is one message.
type entry struct {
	id      string
	user    bool
	seq     int64
	head    span
	parts   []partEntry
	read    []int // once the message was read: the numbers of the parts that it has
	dropped bool
	hidden  string // the message at which an opHide hid it; "" when it is visible
	refused bool   // a refusal hid it, which nothing takes back
}

// partEntry is one part of a message: its last line and, for a tool call that has ended, the line before,
// which has its input.
type partEntry struct {
	whole span
	input span
	state transcript.State // of a call, if it changed after the last line
	grown *growth          // from the live file, if there is no line
}

func (p *partEntry) none() bool { return p.whole.size == 0 && p.grown == nil }

// addLine adds one line of the session's file to the index.
func (st *Stored) addLine(raw scanned) {
	l, err := parse(raw.text)
	st.size = raw.end
	switch {
	case raw.ended:
		st.end = raw.end
	case err != nil:
		st.Damage.Torn = raw.end - raw.at
		return
	default:
		st.end, st.open = raw.end, true
	}
	if err != nil {
		st.Damage.add(raw.at)
		st.broken++
		return
	}
	if l.seq <= st.seq {
		return // written again after a sync that failed
	}
	st.Damage.Missing += l.seq - st.seq - 1
	st.seq = l.seq
	if !st.note(&l, span{at: raw.at + int64(len(raw.text)-sumLen-len(l.data)), size: len(l.data)}) {
		st.Damage.add(raw.at)
	}
}

// countMissing subtracts the broken lines from the missing records, among which they were counted.
func (st *Stored) countMissing() {
	st.Damage.Missing = max(0, st.Damage.Missing-st.broken)
}

// note adds a line to the index, and reports whether it is one that this program writes.
func (st *Stored) note(l *line, data span) bool {
	c := st.root
	if l.sub != "" {
		if c = st.subs[l.sub]; c == nil {
			c = newConversation()
			st.subs[l.sub] = c
		}
	}
	switch l.kind + "/" + l.op {
	case "session/":
		st.info = append(st.info, mark{l.seq, data})
	case "session/" + opMemory:
		st.memories = append(st.memories, mark{l.seq, data})
	case "session/" + opState:
		st.states[l.of] = append(st.states[l.of], mark{l.seq, data})
	case "session/" + opChild:
		c.record = data
	case "message/":
		e := c.entry(l)
		e.head, e.user = data, l.role == string(transcript.User)
	case "message/" + opDrop:
		c.entry(l).dropped = true
	case "message/" + opHide:
		c.hide(l.of, string(l.data) == refusedData)
	case "message/" + opShow:
		c.show(l.of)
	case "part/", "part/" + opEnd, "part/" + opCall:
		return c.notePart(l, data)
	default:
		return false // a newer program wrote it
	}
	return true
}

func (c *conversation) entry(l *line) *entry {
	e := c.byID[l.of]
	if e == nil {
		e = &entry{id: l.of, user: l.role == string(transcript.User), seq: l.seq}
		c.byID[l.of] = e
		c.list = append(c.list, e)
	}
	return e
}

func (c *conversation) hide(from string, refused bool) {
	first := c.byID[from]
	found := false
	for _, e := range c.list {
		found = found || e == first
		if found && e.hidden == "" {
			e.hidden, e.refused = from, refused
		}
	}
}

func (c *conversation) show(from string) {
	for _, e := range c.list {
		if e.hidden == from && !e.refused {
			e.hidden = ""
		}
	}
}

func (c *conversation) notePart(l *line, data span) bool {
	p := c.entry(l).part(l.n)
	if p == nil {
		return false
	}
	switch l.op {
	case opCall:
		return json.Unmarshal(l.data, &p.state) == nil
	case opEnd:
		p.input, p.state = p.whole, ""
	default:
		p.input, p.state = span{}, ""
	}
	p.whole = data
	return true
}

// part returns part n; nil when the number is out of bounds.
func (e *entry) part(n int) *partEntry {
	if n < 0 || n > len(e.parts)+maxParts {
		return nil
	}
	for len(e.parts) <= n {
		e.parts = append(e.parts, partEntry{})
	}
	return &e.parts[n]
}
