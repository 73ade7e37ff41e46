package sandbox

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// homeMemory is what looks at the home found, which seldom changes between two commands.
// The zero value is ready.
type homeMemory struct {
	listed   remembered[map[string]bool] // by directory
	clean    remembered[bool]            // settings that hold no credential
	gitNamed remembered[[]string]        // the files that git's settings name
	gitKept  remembered[[]byte]          // git's settings without credentials
}

// settled is how old a change must be for what was made of a file to be kept: within the
// steps of a file system's clock, two changes can bear the same time.
const settled = 2 * time.Second

// remembered keeps what was made of files and directories, each until it changes. The
// zero value is ready. It is safe for concurrent use.
type remembered[T any] struct {
	mu     sync.Mutex
	byPath map[string]recollection[T]
}

// recollection is what was made of a file of that state.
type recollection[T any] struct {
	of   fs.FileInfo
	what T
}

// of is what a function makes of a path, which it is asked for once while the path stays
// as it is.
func (m *remembered[T]) of(path string, from func(path string) T) T {
	now, err := os.Stat(path)
	if err != nil {
		return from(path)
	}
	m.mu.Lock()
	old, known := m.byPath[path]
	m.mu.Unlock()
	if known && same(old.of, now) {
		return old.what
	}
	what := from(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(now.ModTime()) < settled {
		delete(m.byPath, path)
		return what
	}
	if m.byPath == nil {
		m.byPath = map[string]recollection[T]{}
	}
	m.byPath[path] = recollection[T]{now, what}
	return what
}

// same reports whether a file is the same one and was not written since.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}
