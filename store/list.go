package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/userfile"
)

// ListOptions say which sessions are wanted.
type ListOptions struct {
	// Cwd is the directory of the wanted sessions; "" means all directories.
	Cwd string
	// Cursor is the Next of the page before; "" is the first page.
	Cursor string
	// Limit bounds the page; zero means 50.
	Limit int
}

// Page is a part of the list of sessions, the one written last first.
type Page struct {
	Sessions []Info
	// Next is the cursor of the next page; "" when this is the last.
	Next string
}

// ErrCursor reports a cursor that List has not returned.
var ErrCursor = errors.New("the cursor is not one of a list of sessions")

const defaultPage = 50

// file is the size and time of one session's record.
type file struct {
	id      string
	size    int64
	updated int64 // nanoseconds since 1970
}

// List returns a page of the stored sessions, ordered by the time of their last write.
func (s *Store) List(o ListOptions) (Page, error) {
	if s == nil {
		return Page{}, nil
	}
	after, err := parseCursor(o.Cursor)
	if err != nil {
		return Page{}, err
	}
	ids, open, err := s.stored()
	if err != nil || len(ids) == 0 {
		return Page{}, err
	}
	files, err := s.cache.update(s, ids, open)
	if err != nil {
		return Page{}, err
	}
	defer s.cache.save(s)
	if o.Limit <= 0 {
		o.Limit = defaultPage
	}
	var page Page
	var last file
	for _, f := range files {
		if o.Cursor != "" && !newer(after, f) {
			continue
		}
		info, ok := s.cache.info(s, f, o.Cwd)
		if !ok {
			continue
		}
		if len(page.Sessions) == o.Limit {
			page.Next = cursorOf(last)
			return page, nil
		}
		page.Sessions, last = append(page.Sessions, info), f
	}
	return page, nil
}

// newer reports whether a comes before b in a list.
func newer(a, b file) bool {
	if a.updated != b.updated {
		return a.updated > b.updated
	}
	return a.id > b.id
}

func cursorOf(f file) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", f.updated, f.id))
}

func parseCursor(cursor string) (f file, err error) {
	if cursor == "" {
		return f, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return f, ErrCursor
	}
	if n, err := fmt.Sscanf(string(text), "%d %s", &f.updated, &f.id); n != 2 || err != nil || checkID(f.id) != nil {
		return f, ErrCursor
	}
	return f, nil
}

// stored lists the ids of all sessions, and which of them a process has open, or had open when it was
// killed. It lists none where there is no directory.
func (s *Store) stored() (ids []string, open map[string]bool, err error) {
	entries, err := os.ReadDir(s.o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	ids, open = make([]string, 0, len(entries)), map[string]bool{}
	for _, entry := range entries {
		if id, ours := strings.CutSuffix(entry.Name(), recordEnd); ours && entry.Type().IsRegular() && checkID(id) == nil {
			ids = append(ids, id)
		} else if id, ours := strings.CutSuffix(entry.Name(), ownerEnd); ours {
			open[id] = true
		}
	}
	return ids, open, nil
}

// files lists the sessions' records, the one that was written last first.
func (s *Store) files() ([]file, error) {
	ids, _, err := s.stored()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	files := make([]file, len(ids))
	for i, id := range ids {
		files[i].id = id
	}
	if err := s.stat(files); err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f file) bool { return f.updated == 0 })
	sortFiles(files)
	return files, nil
}

// stat fills in sizes and times; a file that is gone by now gets none. Several goroutines share thousands
// of files, because this is most of the time that a list takes.
func (s *Store) stat(files []file) error {
	dir, err := os.OpenRoot(s.o.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	const least = 256 // of files for one goroutine
	var workers sync.WaitGroup
	share := max(least, len(files)/runtime.GOMAXPROCS(0)+1)
	for part := range slices.Chunk(files, share) {
		workers.Go(func() {
			for i := range part {
				if info, err := dir.Lstat(part[i].id + recordEnd); err == nil {
					part[i].size, part[i].updated = info.Size(), info.ModTime().UnixNano()
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// tailChunk is how much of a file's end is read at once to find the session's last record.
const tailChunk = 32 << 10

// readInfo reads the last Info in a session's record, which is written at the end of each turn.
func (s *Store) readInfo(f file) (data []byte, err error) {
	r, err := userfile.Open(s.path(f.id, recordEnd), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var text []byte // the end of the file, from a line's beginning or before
	for end := f.size; ; {
		from := max(0, end-max(tailChunk, int64(len(text))))
		chunk := make([]byte, end-from, end-from+int64(len(text)))
		if _, err := r.ReadAt(chunk, from); err != nil {
			return nil, err // the file was cut meanwhile
		}
		text, end = append(chunk, text...), from
		if l := lastInfo(text, from == 0); l != nil {
			return l, nil
		}
		if from == 0 {
			return nil, nil
		}
		// Only the first line has to be searched again: it began before the chunk.
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text = text[:i+1]
		}
	}
}

// lastInfo finds the last Info among lines. start says that the first line is complete.
func lastInfo(text []byte, start bool) []byte {
	const begin = `{"type":"session",`
	for {
		i := bytes.LastIndex(text, []byte("\n"+begin))
		if i < 0 && (!start || !bytes.HasPrefix(text, []byte(begin))) {
			return nil
		}
		at, _, _ := bytes.Cut(text[i+1:], []byte("\n"))
		if l, err := parse(at); err == nil && l.op == "" {
			return slices.Clone(l.data)
		}
		if i < 0 {
			return nil
		}
		text = text[:i]
	}
}

// decodeInfo decodes an Info, of which data may be missing.
func decodeInfo(f file, data []byte) Info {
	var info Info
	if json.Unmarshal(data, &info) != nil || info.ID != f.id {
		info = Info{ID: f.id}
	}
	info.Updated = time.Unix(0, f.updated).UTC()
	return info
}
