package store

import (
	"fmt"
	"os"
	"slices"

	"acp-agent/compaction"
	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// ForkOptions say what a fork copies.
type ForkOptions struct {
	// Through is the last message that is copied; Before is the first that is not. At most one of
	// them is given; without either, all messages are copied.
	Through, Before string
	// Cwd and Additional are the directories of the fork; "" and nil mean those of the session.
	Cwd        string
	Additional []string
	// Without are keys of [Recorder.Put] whose values are not copied, such as the session's rules
	// (R142).
	Without []string
	// Rewrite, unless nil, rewrites a value of [Recorder.Put] that may name messages. A value
	// without ok is not copied.
	Rewrite func(v ForkedValue) (key string, data []byte, ok bool)
}

// ForkedValue is a value of [Recorder.Put] that a fork may copy.
type ForkedValue struct {
	Key  string
	Data []byte
	// ID returns the new id of a message; "" for a message that is not copied.
	ID func(old string) string
	// Moved says that the fork works in another directory.
	Moved bool
}

// Fork stores a copy of a session as a new session: with new ids (R142), with its calls closed as after a
// restart, and with the tools' memory at that point. The session itself may be open; a fork during a turn
// has the part of the turn that is stored.
func (s *Store) Fork(id string, o ForkOptions) (Info, error) {
	st, err := s.Load(id)
	if err != nil {
		return Info{}, err
	}
	upTo, err := st.cut(o)
	if err != nil {
		return Info{}, err
	}
	info := st.Info
	info.ID, info.ForkedFrom = s.o.IDs.New(transcript.SessionPrefix), id
	info.ParentID, info.ParentMessageID, info.Agent = "", "", ""
	info.Created, info.Messages, info.Turns = s.o.Now().UTC(), 0, 0
	info.Usage, info.Cost, info.Turn, info.Reason = transcript.Usage{}, 0, "", ""
	if o.Cwd != "" {
		info.Cwd = o.Cwd
	}
	if o.Additional != nil {
		info.Additional = o.Additional
	}
	var fault error
	r := s.Create(info, func(err error) { fault = err })
	f := &fork{r: r, st: st, upTo: upTo, ids: map[string]string{}}
	err = f.copy(o)
	closeErr := r.Close()
	if err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.linkBlobs(id, info.ID)
	}
	if err == nil {
		err = fault
	}
	if err != nil {
		return Info{}, fmt.Errorf("fork %s: %w", id, joinFailed(err, s.Delete(info.ID)))
	}
	return r.Info(), nil
}

// cut is the number of the last record that a fork copies.
func (st *Stored) cut(o ForkOptions) (int64, error) {
	if o.Through == "" && o.Before == "" {
		return st.seq, nil
	}
	visible := slices.DeleteFunc(slices.Clone(st.root.list), func(e *entry) bool { return e.dropped || e.hidden != "" })
	id := o.Through
	if o.Before != "" {
		id = o.Before
	}
	i := slices.IndexFunc(visible, func(e *entry) bool { return e.id == id })
	if i < 0 {
		return 0, fmt.Errorf("message %q: %w", id, ErrNoMessage)
	}
	if o.Before != "" {
		return visible[i].seq - 1, nil
	}
	if i+1 < len(visible) {
		return visible[i+1].seq - 1, nil
	}
	return st.seq, nil
}

// fork copies one session.
type fork struct {
	r    *Recorder
	st   *Stored
	upTo int64
	ids  map[string]string // the new ids of messages
}

func (f *fork) copy(o ForkOptions) error {
	file, err := userfile.Open(f.st.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close()
	marks := spanReader{f: file}
	memory, err := f.st.memoryAt(&marks, f.upTo)
	if err != nil {
		return err
	}
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	f.r.started, f.r.memory, f.r.dirty.memory = true, memory, true
	f.r.addDirty() // the first line of a file is its Info
	f.nameMessages()
	if err := f.copyStates(o, &marks); err != nil {
		return err
	}
	if err := f.copyMessages(); err != nil {
		return err
	}
	f.r.dirty.info = true
	return f.r.flush()
}

// copyStates writes the session's values as they were at upTo; the options may leave out or
// rewrite one. The recorder's mu is held.
func (f *fork) copyStates(o ForkOptions, marks *spanReader) error {
	for key, values := range f.st.states {
		data, err := marks.last(values, f.upTo)
		if err != nil {
			return err
		}
		if data == nil || slices.Contains(o.Without, key) {
			continue
		}
		ok := true
		if o.Rewrite != nil {
			key, data, ok = o.Rewrite(ForkedValue{key, data, f.newID, f.r.info.Cwd != f.st.Info.Cwd})
		}
		if ok {
			f.r.add(line{kind: sessionKind, op: opState, of: key, data: data})
		}
	}
	return nil
}

// copyMessages writes the messages up to upTo, ended as after a restart. The recorder's mu is
// held; a long queue is written in between, to bound the memory.
func (f *fork) copyMessages() error {
	fill := forkedFill{whole: f.st.Info.Used}
	for m, err := range f.st.Messages() {
		if err != nil {
			return err
		}
		if f.st.root.byID[m.ID].seq > f.upTo {
			fill.leave(m)
			continue
		}
		fill.take(m)
		after, _ := transcript.AfterRestart(transcript.Snapshot{Messages: []*transcript.Message{m}}, f.r.store.o.Now())
		f.r.info.Messages++
		if m.Role == transcript.User {
			f.r.info.Turns++
		}
		f.r.addMessage(f.r.root, f.message(after.Messages[0], f.r.info.ID))
		if len(f.r.file.queue) > unsyncedBytes {
			if err := f.r.flush(); err != nil {
				return err
			}
		}
	}
	f.r.info.Used = fill.used()
	return nil
}

// forkedFill is how full the window is with the messages that a fork copies.
type forkedFill struct {
	whole   int // with all messages
	counted int // the server's count of the last answer that is copied; 0 when there is none
	after   int // an estimate of what is copied after that answer
	left    int // an estimate of what is not copied
	cut     bool
}

func (f *forkedFill) take(m *transcript.Message) {
	switch {
	case m.Compaction != nil: // what the server counted before is no longer sent
		f.counted = 0
	case m.Usage != nil && m.Usage.Total() > 0:
		f.counted, f.after = m.Usage.Total(), 0
	default:
		f.after += sizeOf(m)
	}
}

func (f *forkedFill) leave(m *transcript.Message) {
	f.cut = true
	f.left += sizeOf(m)
}

// used is the count of the server with what follows, else what remains of the whole; 0 is not known.
func (f *forkedFill) used() int {
	switch {
	case !f.cut:
		return f.whole
	case f.counted > 0:
		return f.counted + f.after
	}
	return max(0, f.whole-f.left)
}

// sizeOf estimates a message; one that no model sees takes nothing.
func sizeOf(m *transcript.Message) int {
	if m.Aside {
		return 0
	}
	return new(compaction.Meter).Estimate([]*transcript.Message{m})
}

// nameMessages gives the messages their new ids, in their order.
func (f *fork) nameMessages() {
	for _, e := range f.st.root.list {
		if !e.dropped && e.hidden == "" && e.seq <= f.upTo {
			f.ids[e.id] = f.r.store.o.IDs.New(transcript.MessagePrefix)
		}
	}
}

// newID is the new id of a message of the session itself; "" for a message that is not copied.
func (f *fork) newID(old string) string { return f.ids[old] }

// message returns a copy with new ids, for the session or subagent that parent names.
func (f *fork) message(m *transcript.Message, parent string) *transcript.Message {
	ids := f.r.store.o.IDs
	copied := *m
	copied.Parts = make([]transcript.Part, len(m.Parts))
	if copied.ID = f.ids[m.ID]; copied.ID == "" { // one of a subagent
		copied.ID = ids.New(transcript.MessagePrefix)
		f.ids[m.ID] = copied.ID
	}
	if m.Compaction != nil {
		compaction := *m.Compaction
		compaction.Keep = slices.Clone(compaction.Keep)
		for i, id := range compaction.Keep {
			compaction.Keep[i] = f.ids[id] // the messages before m have new ids already
		}
		copied.Compaction = &compaction
	}
	for i, part := range m.Parts {
		switch p := part.(type) {
		case *transcript.TextPart:
			text := *p
			text.ID, part = newID(ids, p.ID), &text
		case *transcript.ReasoningPart:
			thought := *p
			thought.ID, part = newID(ids, p.ID), &thought
		case *transcript.ToolPart:
			call := *p
			call.Child, part = f.child(p.Child, parent, copied.ID), &call
		}
		copied.Parts[i] = part
	}
	return &copied
}

func newID(ids *transcript.IDs, old string) string {
	if old == "" {
		return ""
	}
	return ids.New(transcript.PartPrefix)
}

// child copies a subagent. An inspectable one is not copied: it is a session to which both refer.
func (f *fork) child(c *transcript.Child, parent, message string) *transcript.Child {
	if c == nil || c.Brief().Inspectable {
		return c
	}
	record := c.Record()
	messages := record.Messages
	record.ID = f.r.store.o.IDs.New(transcript.SessionPrefix)
	record.ParentID, record.ParentMessageID, record.Messages = parent, message, nil
	copied := make([]*transcript.Message, len(messages))
	for i, m := range messages {
		copied[i] = f.message(m, record.ID)
	}
	fork := transcript.NewChild(record, transcript.NewLog(copied...))
	fork.SetEnd(c.End())
	return fork
}
