package store

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/userfile"
)

// listCache remembers what a list shows of each session, so that a list need not open or stat
// thousands of files. A process logs a session in list.opened before it writes it, so a session not
// logged since the last look is unchanged. The cache file may be deleted: all sessions are then
// read again. Sessions on the requested page are always checked against size and time of their
// files.
type listCache struct {
	mu      sync.Mutex // guards what follows
	loaded  bool
	known   map[string]cached
	covered int64 // how many bytes of the log of opened sessions are taken into account
	fresh   int   // how many sessions differ from what the cache file says of them
}

type cached struct {
	file
	open bool   // a process had the session open
	data []byte // the session's Info; nil when it was not read since the session was written
}

const (
	cacheName  = "list.cache"
	openedName = "list.opened"
	// notRead is the Info, in the cache file, of a session whose file was not read.
	notRead = "null"
	// cacheStep is how many sessions must differ before the cache file is written again. So many are
	// used in some days, and reading them is cheap.
	cacheStep = 64
	maxCache  = 256 << 20
	// mostOpened is the size of the log above which a sweep starts a new one.
	mostOpened = 4 << 20
)

// noteOpened adds a session to the log of opened sessions, before it is written.
func (s *Store) noteOpened(id string) {
	f, err := userfile.Open(filepath.Join(s.o.Dir, openedName), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err == nil {
		_, err = f.Write([]byte(id + "\n"))
		_ = f.Close()
	}
	if err != nil { // the cache would take the session for unchanged
		s.dropCache()
	}
}

// dropCache removes the cache and its log. Another process that lists sessions at this moment may write
// the cache again, but with the current state.
func (s *Store) dropCache() {
	_ = userfile.Remove(filepath.Join(s.o.Dir, openedName))
	_ = userfile.Remove(filepath.Join(s.o.Dir, cacheName))
}

// openedSince returns the sessions that were opened since the log had covered bytes, and its size now.
// all says that it is a new log, so that any session may have been opened.
func (s *Store) openedSince(covered int64) (opened map[string]bool, size int64, all bool) {
	f, err := userfile.Open(filepath.Join(s.o.Dir, openedName), os.O_RDONLY)
	if err != nil {
		return nil, 0, true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < covered {
		return nil, 0, true
	}
	data := make([]byte, info.Size()-covered)
	if _, err := io.ReadFull(io.NewSectionReader(f, covered, int64(len(data))), data); err != nil {
		return nil, 0, true
	}
	opened = map[string]bool{}
	for id := range strings.FieldsSeq(string(data)) {
		opened[id] = true
	}
	return opened, info.Size(), false
}

// load reads the cache file, once. mu is held.
func (c *listCache) load(s *Store) {
	if c.loaded {
		return
	}
	c.loaded, c.known = true, map[string]cached{}
	data, err := userfile.Read(filepath.Join(s.o.Dir, cacheName), maxCache)
	if err != nil {
		return
	}
	for len(data) > 0 {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		l, err := parse(text)
		switch {
		case err != nil:
		case l.kind == messageKind: // the head, which has the size of the log in the place of a number
			c.covered = l.seq
		default: // a session, with size and time of its file in the place of number and time
			if string(l.data) == notRead {
				l.data = nil
			}
			c.known[l.of] = cached{file: file{id: l.of, size: l.seq, updated: l.at}, open: l.op == opState, data: l.data}
		}
	}
}

// update brings the cache up to date, and returns the files of the sessions, the one that was written last
// first. ids are all sessions, open the ones that a process has open.
func (c *listCache) update(s *Store, ids []string, open map[string]bool) ([]file, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load(s)
	opened, size, all := s.openedSince(c.covered)
	files := make([]file, 0, len(ids))
	var looked []file
	for _, id := range ids {
		known, found := c.known[id]
		if !found || all || known.open || open[id] || opened[id] {
			looked = append(looked, file{id: id})
		} else {
			files = append(files, known.file)
		}
	}
	if err := s.stat(looked); err != nil {
		return nil, err
	}
	for _, f := range looked {
		if f.updated == 0 {
			continue // it is gone
		}
		known := c.known[f.id]
		if known.file != f {
			known = cached{file: f}
			c.fresh++
		}
		known.open = open[f.id]
		c.known[f.id] = known
		files = append(files, f)
	}
	c.covered = size
	sortFiles(files)
	return files, nil
}

// info returns the Info of a session, if its directory is cwd; "" is any.
func (c *listCache) info(s *Store, f file, cwd string) (info Info, ok bool) {
	c.mu.Lock()
	c.load(s)
	known := c.known[f.id]
	c.mu.Unlock()
	if known.file == f && known.data != nil {
		if !isIn(known.data, cwd) {
			return info, false
		}
		// Another program, such as a backup, may have changed the file.
		actual := []file{{id: f.id}}
		if err := s.stat(actual); err != nil || actual[0].updated == 0 {
			return info, false
		}
		f = actual[0]
	}
	if known.file != f || known.data == nil {
		data, err := s.readInfo(f)
		if err != nil {
			return info, false
		}
		known.file, known.data = f, data
		c.mu.Lock()
		c.known[f.id] = known
		c.fresh++
		c.mu.Unlock()
	}
	if !isIn(known.data, cwd) {
		return info, false
	}
	info = decodeInfo(f, known.data)
	return info, cwd == "" || info.Cwd == cwd
}

// isIn reports whether an encoded Info may be of a session in a directory; "" is any.
func isIn(data []byte, cwd string) bool {
	if cwd == "" {
		return true
	}
	quoted, err := encode(cwd)
	return err == nil && bytes.Contains(data, append([]byte(`"cwd":`), quoted...))
}

// save writes the cache file if many sessions have changed since.
func (c *listCache) save(s *Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fresh < cacheStep {
		return
	}
	c.fresh = 0
	head := line{kind: messageKind, seq: c.covered, data: []byte("{}")}
	data := head.append(nil)
	for id, known := range c.known {
		l := line{kind: sessionKind, seq: known.size, at: known.updated, of: id, data: known.data}
		if len(known.data) == 0 {
			l.data = []byte(notRead)
		}
		if known.open {
			l.op = opState
		}
		data = l.append(data)
	}
	temp := filepath.Join(s.o.Dir, cacheName+"."+rand.Text()+tempEnd)
	f, err := userfile.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return // the next list is slower
	}
	_, err = f.Write(data) // not synced: a session whose line is lost is read again
	if closed := f.Close(); err != nil || closed != nil || os.Rename(temp, filepath.Join(s.o.Dir, cacheName)) != nil {
		_ = os.Remove(temp)
	}
}

// forget drops a session that was deleted.
func (c *listCache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, id)
}

// sortFiles puts the file that was written last first.
func sortFiles(files []file) {
	slices.SortFunc(files, func(a, b file) int {
		if newer(a, b) {
			return -1
		}
		return 1
	})
}

// tempEnd is the end of the names of files that are being written.
const tempEnd = ".tmp"
