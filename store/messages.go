package store

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// Messages reads the conversation in order. It has what was cleared, but not what was withdrawn or hidden.
// A part that cannot be read is left out and counted in Damage. An error says that the file as a whole
// cannot be read; it ends the iteration.
func (st *Stored) Messages() iter.Seq2[*transcript.Message, error] { return st.messages(view{}) }

// All is Messages with what was hidden or refused, for a search or an export of everything.
func (st *Stored) All() iter.Seq2[*transcript.Message, error] {
	return st.messages(view{hidden: true, refused: true})
}

// view says which messages are read in addition to the visible ones.
type view struct {
	hidden  bool // messages that an undo has hidden
	refused bool // messages that the model's server refused
}

func (v view) has(e *entry) bool {
	switch {
	case e.dropped:
		return false
	case e.refused:
		return v.refused
	}
	return e.hidden == "" || v.hidden
}

func (st *Stored) messages(v view) iter.Seq2[*transcript.Message, error] {
	return func(yield func(*transcript.Message, error) bool) {
		f, err := userfile.Open(st.path, os.O_RDONLY)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		d := decoder{st: st, r: spanReader{f: f}, children: st.childRecords(&spanReader{f: f}), view: v}
		for _, e := range st.root.list {
			if !v.has(e) {
				continue
			}
			m, err := d.message(e, "", 0)
			if m == nil && err == nil {
				continue
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// maxNesting bounds how deep subagents may be nested, as in transcript.
const maxNesting = 16

// decoder decodes the messages of an index.
type decoder struct {
	st       *Stored
	r        spanReader
	children map[childKey]*childForm
	view     view
}

// childKey names the call that spawned a subagent; in is the subagent that made the call, "" for
// the session itself.
type childKey struct{ in, call string }

// childForm is the data of an opChild line.
type childForm struct {
	In     string                 `json:"in,omitempty"`
	Call   string                 `json:"call"`
	Record transcript.ChildRecord `json:"record"`
	// End is a part with the card that the end of the subagent left.
	End json.RawMessage `json:"end,omitempty"`
}

// child returns the subagent with its conversation.
func (f *childForm) child(log *transcript.Log) *transcript.Child {
	child := transcript.NewChild(f.Record, log)
	if f.End == nil {
		return child
	}
	if part, err := transcript.DecodePart(f.End); err == nil {
		if call, ok := part.(*transcript.ToolPart); ok {
			child.SetEnd(call.Card)
		}
	}
	return child
}

// childRecords returns the subagents by the calls that spawned them.
func (st *Stored) childRecords(r *spanReader) map[childKey]*childForm {
	records := map[childKey]*childForm{}
	for id, c := range st.subs {
		form := &childForm{}
		data, err := r.read(c.record)
		if err == nil && c.record.size > 0 && json.Unmarshal(data, form) == nil && form.Record.ID == id {
			records[childKey{form.In, form.Call}] = form
		}
	}
	return records
}

// message returns nil for a message of which nothing can be read.
func (d *decoder) message(e *entry, sub string, depth int) (*transcript.Message, error) {
	m := &transcript.Message{ID: e.id, Role: transcript.Assistant, Finished: true}
	if e.user {
		m.Role = transcript.User
	}
	found := false
	if e.head.size > 0 {
		data, err := d.r.read(e.head)
		if err != nil {
			return nil, err
		}
		if read := (&transcript.Message{}); json.Unmarshal(data, read) == nil && (read.Role == transcript.User || read.Role == transcript.Assistant) {
			m, found = read, true
		} else {
			d.st.Damage.add(e.head.at)
		}
	}
	e.read = e.read[:0]
	for i := range e.parts {
		p := &e.parts[i]
		if p.none() {
			continue // addLine has counted the loss
		}
		part, err := d.part(p, sub, depth)
		if err != nil {
			return nil, err
		}
		if part != nil {
			m.Parts, found = append(m.Parts, part), true
			e.read = append(e.read, i)
		}
	}
	if !found {
		return nil, nil
	}
	return m, nil
}

// part returns nil for a part that cannot be read.
func (d *decoder) part(p *partEntry, sub string, depth int) (transcript.Part, error) {
	if p.whole.size == 0 {
		if p.grown.Reasoning {
			return &transcript.ReasoningPart{ID: p.grown.ID, Text: p.grown.Text}, nil
		}
		return &transcript.TextPart{ID: p.grown.ID, Text: p.grown.Text}, nil
	}
	data, err := d.r.read(p.whole)
	if err != nil {
		return nil, err
	}
	part, err := transcript.DecodePart(data)
	if err != nil {
		d.st.Damage.add(p.whole.at)
		return nil, nil
	}
	call, isCall := part.(*transcript.ToolPart)
	if !isCall {
		return part, nil
	}
	if p.state != "" {
		call.State = p.state
	}
	if p.input.size > 0 {
		if err = d.input(p.input, call); err != nil {
			return nil, err
		}
	}
	call.Child, err = d.child(childKey{sub, call.CallID}, depth)
	return call, err
}

// child returns the subagent of a call; nil for most calls.
func (d *decoder) child(key childKey, depth int) (*transcript.Child, error) {
	form := d.children[key]
	if form == nil || depth >= maxNesting {
		return nil, nil
	}
	record := &form.Record
	if record.Inspectable {
		return form.child(nil), nil
	}
	var messages []*transcript.Message
	for _, e := range d.st.subs[record.ID].list {
		if !d.view.has(e) {
			continue
		}
		m, err := d.message(e, record.ID, depth+1)
		if err != nil {
			return nil, err
		}
		if m != nil {
			messages = append(messages, m)
		}
	}
	return form.child(transcript.NewLog(messages...)), nil
}

// input reads the arguments of a call that has ended from the line before its last.
func (d *decoder) input(at span, call *transcript.ToolPart) error {
	data, err := d.r.read(at)
	if err != nil {
		return err
	}
	var part struct {
		Input    string          `json:"input"`
		Complete bool            `json:"complete"`
		Args     json.RawMessage `json:"args"`
	}
	if json.Unmarshal(data, &part) != nil {
		d.st.Damage.add(at.at)
	}
	call.Input, call.Complete, call.Args = part.Input, part.Complete, part.Args
	return nil
}

// spanReader reads spans of a file, mostly in order.
type spanReader struct {
	f   *os.File
	buf []byte
	at  int64 // the offset of buf in the file
}

// read returns the data of a span, which is valid until the next read.
func (r *spanReader) read(s span) ([]byte, error) {
	if s.size == 0 {
		return nil, nil
	}
	if s.at < r.at || s.at+int64(s.size) > r.at+int64(len(r.buf)) {
		size := max(s.size, firstChunk, min(2*cap(r.buf), scanChunk))
		if cap(r.buf) < size {
			r.buf = make([]byte, size)
		}
		n, err := r.f.ReadAt(r.buf[:size], s.at)
		if n < s.size {
			return nil, fmt.Errorf("the file ends before byte %d, where a record was: %w", s.at+int64(s.size), err)
		}
		r.buf, r.at = r.buf[:n], s.at
	}
	from := int(s.at - r.at)
	return r.buf[from : from+s.size], nil
}

// last reads the last of marks whose number is at most seq; nil when there is none.
func (r *spanReader) last(marks []mark, seq int64) ([]byte, error) {
	for i := len(marks) - 1; i >= 0; i-- {
		if marks[i].seq <= seq {
			return r.read(marks[i].span)
		}
	}
	return nil, nil
}
