package store

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"sync"

	"acp-agent/internal/userfile"
)

// listCache remembers the records of sessions by the sizes and times of their files, so that a
// list for one directory does not open thousands of them. It is kept in a file, which is a cache
// alone: it is made anew when it is missing or damaged, and no record in it outlives a change of
// its session.
type listCache struct {
	mu     sync.Mutex
	loaded bool
	known  map[string]cached
	fresh  int // how many are not in the file
}

type cached struct {
	size, updated int64
	data          []byte // the session's record; nil for one that has none
}

const (
	cacheName = "list.cache"
	// cacheStep is how many records are read anew before the file is written: these are the
	// sessions that were used since, and reading as many is cheap.
	cacheStep = 64
	maxCache  = 256 << 20
)

func (c *listCache) load(s *Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
		// A line of the cache has the file's size in the place of a number.
		if l, err := parse(text); err == nil && l.kind == sessionKind {
			c.known[l.of] = cached{size: l.seq, updated: l.at, data: l.data}
		}
		data = rest
	}
}

// info returns what is known of a session, if its directory is the wanted one.
func (c *listCache) info(s *Store, f file, cwd string) (info Info, ok bool) {
	c.mu.Lock()
	known, found := c.known[f.id]
	c.mu.Unlock()
	if !found || known.size != f.size || known.updated != f.updated {
		data, err := s.readInfo(f)
		if err != nil {
			return info, false
		}
		known = cached{size: f.size, updated: f.updated, data: data}
		c.mu.Lock()
		c.known[f.id] = known
		c.fresh++
		c.mu.Unlock()
	}
	if cwd != "" {
		quoted, err := encode(cwd)
		if err != nil || !bytes.Contains(known.data, append([]byte(`"cwd":`), quoted...)) {
			return info, false
		}
	}
	info = decodeInfo(f, known.data)
	return info, cwd == "" || info.Cwd == cwd
}

// save writes the file when it misses many. A failure costs time alone.
func (c *listCache) save(s *Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fresh < cacheStep {
		return
	}
	c.fresh = 0
	var data []byte
	for id, known := range c.known {
		if len(known.data) > 0 {
			l := line{kind: sessionKind, seq: known.size, at: known.updated, of: id, data: known.data}
			data = l.append(data)
		}
	}
	temp := filepath.Join(s.o.Dir, cacheName+"."+rand.Text()+tempEnd)
	f, err := userfile.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return
	}
	_, err = f.Write(data) // not synced: a line that is lost is read anew
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

// tempEnd is the end of the names of files that are being written.
const tempEnd = ".tmp"
