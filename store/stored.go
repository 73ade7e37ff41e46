package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// Stored is the index of a session's record at one moment. It reads messages from the file when they are
// asked for, so that the first message of a long conversation is there at once, and nothing is in memory
// twice. A Stored is for one goroutine.
type Stored struct {
	// Info is the last Info in the record. When none can be read, it has only the id.
	Info Info
	// Memory is the memory of the session's tools.
	Memory transcript.Memory
	// Interrupted says that a turn had not finished when its process ended.
	Interrupted bool
	// Damage is what could not be read. Reading messages can add to it.
	Damage Damage

	store *Store
	path  string
	// size is the size of the file, end the size up to its last complete line. open says that this
	// line is complete but for its line break.
	size, end int64
	open      bool
	live      bool // there is a live file
	seq       int64
	broken    int64 // lines whose checksums do not match
	root      *conversation
	subs      map[string]*conversation
	info      []mark // the lines with an Info, in order
	memories  []mark
	states    map[string][]mark
}

// Load makes the index of a session. It does not lock the session: another process may have it open.
func (s *Store) Load(id string) (*Stored, error) {
	if s == nil {
		return nil, ErrNotFound
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	st := &Stored{
		Info: Info{ID: id}, store: s, path: s.path(id, recordEnd), root: newConversation(),
		subs: map[string]*conversation{}, states: map[string][]mark{},
	}
	f, err := userfile.Open(st.path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := scan(f, st.addLine); err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if err := st.readLive(); err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	if err := st.readSession(f); err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return st, nil
}

// readLive adds the texts that were still growing when the last process ended, or that another process
// is receiving.
func (st *Stored) readLive() error {
	st.countMissing()
	f, err := userfile.Open(st.store.path(st.Info.ID, liveEnd), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	st.live = true
	return scan(f, func(raw scanned) {
		l, err := parse(raw.text)
		var g growth
		if err != nil || l.kind != partKind || l.op != opGrow || json.Unmarshal(l.data, &g) != nil {
			return // incomplete; it has less than 50 ms of text
		}
		c := st.root
		if l.sub != "" {
			c = st.subs[l.sub]
		}
		if c == nil || c.byID[l.of] == nil {
			return // its message was dropped before it was written
		}
		p := c.byID[l.of].part(l.n)
		switch {
		case p == nil || p.whole.size > 0:
		case p.grown == nil && g.From == 0:
			p.grown = &g
		case p.grown != nil && g.From == len(p.grown.Text):
			p.grown.Text += g.Text
		}
	})
}

// readSession reads the Info and the memory of the session.
func (st *Stored) readSession(f *os.File) error {
	r := spanReader{f: f}
	for i := len(st.info) - 1; i >= 0; i-- {
		data, err := r.read(st.info[i].span)
		if err != nil {
			return err
		}
		id := st.Info.ID
		if json.Unmarshal(data, &st.Info) == nil && st.Info.ID == id {
			break
		}
		st.Info = Info{ID: id}
	}
	if st.Info.Version > version {
		return fmt.Errorf("it is of version %d; this program reads version %d", st.Info.Version, version)
	}
	st.Interrupted = st.Info.Turn != "" && st.Info.Reason == ""
	memory, err := st.memoryAt(&r, st.seq)
	st.Memory = memory
	return err
}

// memoryAt is the memory of the tools when line seq was written.
func (st *Stored) memoryAt(r *spanReader, seq int64) (m transcript.Memory, err error) {
	data, err := r.last(st.memories, seq)
	if err != nil || data == nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// State decodes a value that [Recorder.Put] stored, and reports whether there is one.
func (st *Stored) State(key string, into any) (bool, error) {
	f, err := userfile.Open(st.path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := spanReader{f: f}
	data, err := r.last(st.states[key], st.seq)
	if err != nil || data == nil {
		return false, err
	}
	return true, json.Unmarshal(data, into)
}
