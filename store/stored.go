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

// Stored is a session as its file had it at one moment: what there is, and where. Messages are
// read from the file when they are asked for, so that the first of a long conversation is there
// at once and nothing is in memory twice. A Stored is for one goroutine.
type Stored struct {
	// Info is the last that was written of the session itself. When no such record can be read
	// it has the id alone.
	Info Info
	// Memory is what the session's tools remember.
	Memory transcript.Memory
	// Interrupted says that a turn had not finished when its process ended.
	Interrupted bool
	// Damage is what could not be read. Reading messages can add to it.
	Damage Damage

	store *Store
	path  string
	// size is that of the file, end that up to its last whole line, and open says that of this
	// line only the end is missing.
	size, end int64
	open      bool
	live      bool // there is a live file
	seq       int64
	broken    int64 // lines whose checksums do not match
	root      *conversation
	subs      map[string]*conversation
	info      []mark // records of the session itself, in order
	memories  []mark
	states    map[string][]mark
}

// Load reads what there is of a session, without opening it: another process may have it open.
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

// readLive adds the texts that a killed process was receiving.
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
			return // torn; what it held is less than 50 ms of text
		}
		c := st.root
		if l.sub != "" {
			c = st.subs[l.sub]
		}
		if c == nil || c.byID[l.of] == nil {
			return // of a message that was dropped before it was written
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

// readSession reads the session's own records.
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

// memoryAt is what the tools remembered when record seq was written.
func (st *Stored) memoryAt(r *spanReader, seq int64) (m transcript.Memory, err error) {
	data, err := r.last(st.memories, seq)
	if err != nil || data == nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// State reads a value that [Recorder.Put] stored. It reports whether there is one.
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
