package acptest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// Files are the editor's: those on disk, and buffers with changes that no one
// has saved. The zero value is an editor without open buffers.
type Files struct {
	// Refuse, when it returns an error, fails a request; nil refuses none.
	Refuse func(method, path string) *Failure
	// Answer, when it returns true, answers a request in place of the editor, such as with
	// what no editor should say; nil answers none.
	Answer func(m *Message) (result any, ok bool)

	mu      sync.Mutex
	buffers map[string]string
	reads   []string
	writes  []string
}

// Edit changes a file in the editor without saving it.
func (f *Files) Edit(path, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buffers == nil {
		f.buffers = map[string]string{}
	}
	f.buffers[path] = text
}

// Reads and Writes list the paths that the agent asked for, in order.
func (f *Files) Reads() []string { return f.list(&f.reads) }

// Writes is like Reads.
func (f *Files) Writes() []string { return f.list(&f.writes) }

func (f *Files) list(of *[]string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), *of...)
}

// The codes that clients answer with.
const (
	codeInternal = -32603
	codeNotFound = -32002
	codeParams   = -32602
)

func (f *Files) serve(_ context.Context, m *Message) (any, *Failure) {
	path, _ := m.Get("path").(string)
	if f.Refuse != nil {
		if failure := f.Refuse(m.Method, path); failure != nil {
			return nil, failure
		}
	}
	if f.Answer != nil {
		if result, ok := f.Answer(m); ok {
			return result, nil
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == methodReadFile {
		f.reads = append(f.reads, path)
		return f.read(m, path)
	}
	f.writes = append(f.writes, path)
	text, _ := m.Get("content").(string)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, &Failure{Code: codeInternal, Message: err.Error()}
	}
	delete(f.buffers, path)
	return map[string]any{}, nil
}

func (f *Files) read(m *Message, path string) (any, *Failure) {
	text, open := f.buffers[path]
	if !open {
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &Failure{Code: codeNotFound, Message: "no such file"}
		case err != nil:
			return nil, &Failure{Code: codeInternal, Message: err.Error()}
		}
		text = string(data)
	}
	lines := strings.SplitAfter(text, "\n")
	if line, ok := m.Get("line").(float64); ok && line > 0 {
		lines = lines[min(int(line)-1, len(lines)):]
	}
	if limit, ok := m.Get("limit").(float64); ok && int(limit) < len(lines) {
		lines = lines[:int(limit)]
	}
	return map[string]any{"content": strings.Join(lines, "")}, nil
}
