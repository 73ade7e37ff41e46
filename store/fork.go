package store

import (
	"fmt"
	"os"
	"slices"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// ForkOptions say what a fork takes over.
type ForkOptions struct {
	// Through is the last message that is taken over; Before is the first that is not. At most
	// one is given; without either all are.
	Through, Before string
	// Cwd and Additional are the directories of the fork; "" and nil mean those of the session.
	Cwd        string
	Additional []string
	// Without are keys of [Recorder.Put] whose values are not taken over, such as the session's
	// rules (R142).
	Without []string
	// Rewrite, unless nil, says how a value of [Recorder.Put] is taken over that names messages.
	// Without ok it is not.
	Rewrite func(v ForkedValue) (key string, data []byte, ok bool)
}

// ForkedValue is a value of [Recorder.Put] on its way into a fork.
type ForkedValue struct {
	Key  string
	Data []byte
	// ID gives the new id of a message; "" for one that is not taken over.
	ID func(old string) string
	// Moved says that the fork has another directory.
	Moved bool
}

// Fork stores a copy of a session, as a session of its own: with new ids (R142), with its calls
// closed as after a restart, and with what its tools remembered at that point. The session itself
// may be open; a fork during a turn has what is stored of the turn.
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
		return Info{}, fmt.Errorf("fork %s: %w", id, joinNotNil(err, s.Delete(info.ID)))
	}
	return r.Info(), nil
}

// cut is the number of the last record that a fork takes over.
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
	f.r.addDirty() // the first line says what the file is
	f.nameMessages()
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
	for m, err := range f.st.Messages() {
		if err != nil {
			return err
		}
		if f.st.root.byID[m.ID].seq > f.upTo {
			break
		}
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
	f.r.dirty.info = true
	return f.r.flush()
}

// nameMessages gives the messages their new ids, in their order.
func (f *fork) nameMessages() {
	for _, e := range f.st.root.list {
		if !e.dropped && e.hidden == "" && e.seq <= f.upTo {
			f.ids[e.id] = f.r.store.o.IDs.New(transcript.MessagePrefix)
		}
	}
}

// newID is the new id of a message of the session itself; "" for one that is not taken over.
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
			compaction.Keep[i] = f.ids[id] // those before it have their new ids
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

// child copies a subagent. An inspectable one stays what it is, a session that both point at.
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
