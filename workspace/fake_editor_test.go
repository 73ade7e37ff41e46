package workspace

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// errNotOpen is the answer of an editor that gives the text of open files only.
var errNotOpen = fmt.Errorf("%w: not open", ErrNoText)

// fakeEditor holds buffers over the real disk, as an editor does.
type fakeEditor struct {
	read, write bool
	// buffers are the open files; others are read from disk, a missing one as
	// empty text.
	buffers map[string]string
	// save says that a write goes on to the disk, tail what is added to it.
	save bool
	tail string
	// drops says that a write is answered and nothing is done.
	drops          bool
	readErr, wrErr error
	hang           bool

	mu     sync.Mutex
	reads  []string
	writes map[string][]string
}

func newEditor(read, write bool) *fakeEditor {
	return &fakeEditor{read: read, write: write, buffers: map[string]string{}, writes: map[string][]string{}}
}

func (e *fakeEditor) CanRead() bool  { return e.read }
func (e *fakeEditor) CanWrite() bool { return e.write }

func (e *fakeEditor) ReadTextFile(ctx context.Context, path string, _, _ int) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reads = append(e.reads, path)
	if e.hang {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if e.readErr != nil {
		return "", e.readErr
	}
	if text, ok := e.buffers[path]; ok {
		return text, nil
	}
	b, _ := os.ReadFile(path)
	return string(b), nil
}

func (e *fakeEditor) WriteTextFile(ctx context.Context, path, content string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if e.wrErr != nil {
		return e.wrErr
	}
	e.writes[path] = append(e.writes[path], content)
	if e.drops {
		return nil
	}
	if _, open := e.buffers[path]; open || !e.save {
		e.buffers[path] = content
	}
	if e.save {
		return os.WriteFile(path, []byte(content+e.tail), 0o644)
	}
	return nil
}

func (e *fakeEditor) count() (reads, writes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.writes {
		writes += len(w)
	}
	return len(e.reads), writes
}

func withEditor(e *fakeEditor) func(*Options) { return func(o *Options) { o.Editor.Files = e } }
