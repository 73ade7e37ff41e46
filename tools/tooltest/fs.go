package tooltest

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/permissions"
)

// Operations of an FS that [FS.Fail] can break.
const (
	OpStat  = "stat"
	OpList  = "list"
	OpOpen  = "open"
	OpRead  = "read"
	OpWrite = "write"

	OpRemove  = "remove"
	OpRename  = "rename"
	OpRestore = "restore" // of one file, in a rollback
)

// maxLinks ends a walk through symlinks that lead in a circle.
const maxLinks = 40

// FS is a file system in memory. Directories exist as far as files lie in
// them, or were made with Mkdir. It is safe for concurrent use.
type FS struct {
	place    kinds.Place
	maxBytes int64
	secret   func(path string) bool

	mu     sync.Mutex
	nodes  map[string]*node
	editor map[string]string
	faults map[string]error
	locks  map[string]chan struct{}
	writes []string
	read   map[string]int64
	before func(path string)
	past   []past
}

type node struct {
	data  io.ReaderAt
	size  int64
	mode  fs.FileMode
	mtime time.Time
	link  string
}

// text is the content of a small file, nil when there is none.
func (n *node) text() *string {
	if n == nil || n.data == nil {
		return nil
	}
	content, err := io.ReadAll(io.NewSectionReader(n.data, 0, n.size))
	if err != nil {
		return nil
	}
	text := string(content)
	return &text
}

// epoch is when every file of a new FS was changed last.
func epoch() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// NewFS returns an empty file system that resolves relative paths in place and
// refuses to open texts of more than maxBytes bytes whole.
func NewFS(place kinds.Place, maxBytes int64) *FS {
	f := &FS{
		place: place, maxBytes: maxBytes, secret: permissions.Secret,
		nodes: map[string]*node{}, editor: map[string]string{}, faults: map[string]error{},
		locks: map[string]chan struct{}{}, read: map[string]int64{},
	}
	f.Mkdir(place.Cwd)
	return f
}

// Put creates or replaces a file.
func (f *FS) Put(name, content string) {
	f.PutReader(name, strings.NewReader(content), int64(len(content)))
}

// PutReader creates a file whose bytes come from r, for files too large to hold.
func (f *FS) PutReader(name string, r io.ReaderAt, size int64) {
	f.set(name, &node{data: r, size: size, mode: 0o644})
}

// Mkdir creates a directory.
func (f *FS) Mkdir(name string) { f.set(name, &node{mode: fs.ModeDir | 0o755}) }

// Link creates a symlink to target, a path relative to the workspace or
// absolute.
func (f *FS) Link(name, target string) {
	f.set(name, &node{mode: fs.ModeSymlink | 0o777, link: f.place.Abs(target)})
}

// Device creates something that is neither a file nor a directory, such as a FIFO.
func (f *FS) Device(name string) { f.set(name, &node{mode: fs.ModeNamedPipe | 0o644}) }

// Edit gives a file an unsaved text in the editor.
func (f *FS) Edit(name, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.editor[f.abs(name)] = text
}

// Fail makes one operation on one path fail with err.
func (f *FS) Fail(op, name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[op+" "+f.abs(name)] = err
}

// BeforeWrite calls hook, with no lock held, before each write compares the
// file with what the tool read: the place where another writer comes between.
func (f *FS) BeforeWrite(hook func(path string)) { f.before = hook }

// Get returns a file's content on disk.
func (f *FS) Get(name string) (content string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[f.resolve(f.abs(name))]
	if n == nil || n.data == nil {
		return "", false
	}
	text, err := io.ReadAll(io.NewSectionReader(n.data, 0, n.size))
	return string(text), err == nil
}

// Writes lists the paths that were written, in order.
func (f *FS) Writes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.writes)
}

// BytesRead is how many bytes of a file were read through Open.
func (f *FS) BytesRead(name string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read[f.resolve(f.abs(name))]
}

// Resolve follows the symlinks in an absolute path.
func (f *FS) Resolve(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resolve(name)
}

func (f *FS) set(name string, n *node) {
	n.mtime = epoch()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[f.abs(name)] = n
}

func (f *FS) abs(name string) string { return path.Clean(f.place.Abs(name)) }

// resolve replaces every component that is a link; what does not exist stays.
func (f *FS) resolve(name string) string {
	for range maxLinks {
		next, found := f.resolveOne(name)
		if !found {
			return name
		}
		name = next
	}
	return name
}

func (f *FS) resolveOne(name string) (string, bool) {
	at := "/"
	rest := strings.TrimPrefix(name, "/")
	for rest != "" {
		part, tail, _ := strings.Cut(rest, "/")
		at = path.Join(at, part)
		if n := f.nodes[at]; n != nil && n.link != "" {
			return path.Join(n.link, tail), true
		}
		rest = tail
	}
	return name, false
}

// find returns the node at a resolved path; directories that only follow from
// the files in them get one made up.
func (f *FS) find(name string) *node {
	if n := f.nodes[name]; n != nil {
		return n
	}
	prefix := strings.TrimSuffix(name, "/") + "/"
	for key := range f.nodes {
		if strings.HasPrefix(key, prefix) {
			return &node{mode: fs.ModeDir | 0o755, mtime: epoch()}
		}
	}
	return nil
}

// lookup finds the node behind a path and applies the faults set for it.
func (f *FS) lookup(op, name string) (resolved string, n *node, err error) {
	abs := f.abs(name)
	if err := f.faults[op+" "+abs]; err != nil {
		return "", nil, err
	}
	resolved = f.resolve(abs)
	if n = f.find(resolved); n == nil {
		return resolved, nil, &fs.PathError{Op: op, Path: abs, Err: fs.ErrNotExist}
	}
	return resolved, n, nil
}
