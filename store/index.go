package store

import (
	"encoding/json"

	"acp-agent/transcript"
)

// span is where the data of a line stands in the file.
type span struct {
	at   int64
	size int
}

// mark is a record with its number.
type mark struct {
	seq int64
	span
}

// refusedData is the data of an opHide line that a refusal wrote, and no undo.
const refusedData = `{"refused":true}`

// conversation is the session's, or that of one subagent.
type conversation struct {
	list   []*entry
	byID   map[string]*entry
	record span // of the subagent
}

func newConversation() *conversation { return &conversation{byID: map[string]*entry{}} }

// entry is one message.
type entry struct {
	id      string
	user    bool
	seq     int64
	head    span
	parts   []partEntry
	read    []int // the numbers of the parts that the message has, once it was read
	dropped bool
	hidden  string // the message whose hiding hid it; "" is visible
	refused bool   // it was hidden by a refusal, which nothing takes back
}

// partEntry is one part of a message: the line that has it and, of a tool call that ended, the
// line before, which has its input.
type partEntry struct {
	whole span
	input span
	state transcript.State // of a call, when it changed after the line
	grown *growth          // from the live file, when there is no line
}

func (p *partEntry) none() bool { return p.whole.size == 0 && p.grown == nil }

// addLine notes one line of the session's file.
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

// countMissing corrects the count of missing records by the broken lines, which are among them.
func (st *Stored) countMissing() {
	st.Damage.Missing = max(0, st.Damage.Missing-st.broken)
}

// note adds a line to the index. It reports whether the line makes sense.
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
		return false // of a newer program
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

// part returns part n, nil for one that cannot be.
func (e *entry) part(n int) *partEntry {
	if n < 0 || n > len(e.parts)+maxParts {
		return nil
	}
	for len(e.parts) <= n {
		e.parts = append(e.parts, partEntry{})
	}
	return &e.parts[n]
}
