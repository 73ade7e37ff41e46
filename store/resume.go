package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// Open opens a stored session and locks it. The error is a *BusyError when another process has it open.
// The caller calls [Recorder.Resume] before the first event. When the disk cannot be written, the session
// opens all the same, and failed is called, as for a new session.
func (s *Store) Open(id string, failed func(error)) (*Recorder, error) {
	if s == nil {
		return nil, ErrNotFound
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	if userfile.Missing(s.path(id, recordEnd)) { // before lock, which would create the directory
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	lockErr := s.lock(id)
	if busy := (*BusyError)(nil); errors.As(lockErr, &busy) {
		return nil, lockErr
	}
	st, err := s.Load(id)
	if err != nil {
		if lockErr == nil {
			s.unlock(id)
		}
		return nil, err
	}
	r := s.recorder(st.Info, failed)
	r.info.Version = version
	r.dirty.info = false
	r.stored, r.seq, r.memory, r.started = st, st.seq, st.Memory.Clone(), true
	r.file.locked = lockErr == nil
	if st.live {
		r.live.size = 1 // so that the first flush after Resume empties the file
	}
	if lockErr != nil {
		r.fault = lockErr
		r.report(lockErr)
	}
	return r, nil
}

// Stored is the index of a session that was opened; nil for a new session.
func (r *Recorder) Stored() *Stored {
	if r == nil {
		return nil
	}
	return r.stored
}

// Resume reads the stored conversation in the state in which it continues: calls that ran when the last
// process ended are closed and not run again, questions and approvals stay open, and subagents that had
// not ended are lost (R141, see [transcript.AfterRestart]). Unless nil, each is called with every message
// that is not hidden, as soon as it is read. What was closed is written with the next boundary: if the
// process is killed before, the next one closes it again.
//
// The snapshot is for [transcript.Log.Restore]. lost are the subagents about whose end the main agent has
// to be told (R68).
func (r *Recorder) Resume(ctx context.Context, at time.Time, each func(*transcript.Message) error) (s transcript.Snapshot, lost []*transcript.Child, err error) {
	if r == nil || r.stored == nil {
		return s, nil, nil
	}
	r.mu.Lock()
	s.Memory = r.memory.Clone()
	r.mu.Unlock()
	s.Hidden = map[string]string{}
	entries := r.stored.root.byID
	for m, err := range ahead(r.stored.messages(view{hidden: true})) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return transcript.Snapshot{}, nil, err
		}
		after, gone := transcript.AfterRestart(transcript.Snapshot{Messages: []*transcript.Message{m}}, at)
		closed := after.Messages[0]
		r.mu.Lock()
		r.amend(r.root, m, closed)
		r.addGrown("", entries[m.ID], m)
		hidden := entries[m.ID].hidden
		if hidden == "" {
			r.reopen(closed)
		}
		r.mu.Unlock()
		s.Messages = append(s.Messages, closed)
		if hidden != "" {
			s.Hidden[m.ID] = hidden
			continue
		}
		lost = append(lost, gone...)
		if each != nil {
			if err := each(closed); err != nil {
				return transcript.Snapshot{}, nil, err
			}
		}
	}
	return s, lost, nil
}

// amend queues the changes of a message by the restart.
func (r *Recorder) amend(t *openConversation, before, after *transcript.Message) {
	if before == after {
		return
	}
	if before.Finished != after.Finished {
		r.addHead(t, after)
	}
	for i, part := range after.Parts {
		call, isCall := part.(*transcript.ToolPart)
		if !isCall || part == before.Parts[i] {
			continue
		}
		r.addPart(line{sub: t.sub, of: after.ID, role: roleField(after.Role), n: r.stored.partNumber(t.sub, after.ID, i)}, call)
		was := before.Parts[i].(*transcript.ToolPart).Child // a restart changes no kind of part
		if call.Child != was {
			r.amendChild(t.sub, call.CallID, was, call.Child)
		}
	}
}

func (r *Recorder) amendChild(in, callID string, before, after *transcript.Child) {
	record := after.Record()
	r.addChild(in, callID, record)
	t := newOpenConversation(record.ID)
	was := before.Record().Messages
	for i, m := range record.Messages {
		r.amend(t, was[i], m)
		if c := r.stored.subs[record.ID]; c != nil {
			r.addGrown(record.ID, c.byID[m.ID], m)
		}
	}
}

// partNumber is the number in the file of part i of a message. They differ if parts before it could not
// be read.
func (st *Stored) partNumber(sub, message string, i int) int {
	c := st.root
	if sub != "" {
		c = st.subs[sub]
	}
	if c == nil || c.byID[message] == nil {
		return i
	}
	return c.byID[message].read[i]
}

// addGrown queues the texts of a message that only the live file has.
func (r *Recorder) addGrown(sub string, e *entry, m *transcript.Message) {
	if e == nil {
		return
	}
	for i, n := range e.read {
		if e.parts[n].whole.size == 0 {
			r.addPart(line{sub: sub, of: m.ID, role: roleField(m.Role), n: n}, m.Parts[i])
		}
	}
}

// reopen makes the calls open again that wait for the user.
func (r *Recorder) reopen(m *transcript.Message) {
	waiting := false
	for i, part := range m.Parts {
		call, isCall := part.(*transcript.ToolPart)
		if !isCall || call.State.Terminal() {
			continue
		}
		waiting = true
		r.root.calls[call.CallID] = &openCall{of: m.ID, n: r.stored.partNumber("", m.ID, i), part: *call, ready: true}
	}
	if waiting {
		head := *m
		head.Parts = nil
		r.root.open[m.ID] = &openMessage{head: head, parts: len(r.stored.root.byID[m.ID].parts)}
	}
}
