package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"acp-agent/internal/userfile"

	"acp-agent/transcript"
)

// Open opens a stored session to go on with it. The error is a *BusyError when another process
// has it open. [Recorder.Resume] comes before the first event. Where the disk cannot be written,
// the session opens all the same, and failed is told, as of a new session.
func (s *Store) Open(id string, failed func(error)) (*Recorder, error) {
	if s == nil {
		return nil, ErrNotFound
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	if userfile.Missing(s.path(id, recordEnd)) { // the lock makes a directory
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
		r.live.size = 1 // it is emptied with the first flush after Resume
	}
	if lockErr != nil {
		r.fault = lockErr
		r.report(lockErr)
	}
	return r, nil
}

// Stored is what the session's file held when it was opened; nil for a new session.
func (r *Recorder) Stored() *Stored {
	if r == nil {
		return nil
	}
	return r.stored
}

// Resume reads the stored conversation as it goes on: calls that ran when the last process
// ended are closed and never run again, questions and approvals are left open, and subagents
// that had not ended are lost (R141, see [transcript.AfterRestart]). each is given every message that
// is not hidden as soon as it is read; nil reads them all the same. What was closed is written with the next
// boundary: a process that is killed before does the same again.
//
// The snapshot is what [transcript.NewLog] goes on with, and lost are the subagents of whose end
// the main agent is still to be told (R68).
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

// amend queues what the restart changed of a message.
func (r *Recorder) amend(t *talk, before, after *transcript.Message) {
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
	t := newTalk(record.ID)
	was := before.Record().Messages
	for i, m := range record.Messages {
		r.amend(t, was[i], m)
		if c := r.stored.subs[record.ID]; c != nil {
			r.addGrown(record.ID, c.byID[m.ID], m)
		}
	}
}

// partNumber is the number in the file of the part that was read as a message's i-th: the two
// differ where parts could not be read.
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

// addGrown moves texts of the live file to where they belong.
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

// reopen takes up the calls that go on waiting.
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
