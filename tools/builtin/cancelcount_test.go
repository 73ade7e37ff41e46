//go:build !race

package builtin_test

import (
	"context"
	"io/fs"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/search"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// maxAfter is how many operations on files a tool may begin after its cancel: searches
// read several files at once, and each may finish its piece.
const maxAfter = 16

// TestAll_CancelCounted cancels each tool's worst calls at an operation on files, and
// counts the operations that follow.
func TestAll_CancelCounted(t *testing.T) {
	t.Parallel()
	for _, call := range testreq.Pick(shortCalls, worstCalls()) {
		t.Run(call.tool+"/"+call.name, func(t *testing.T) {
			run, fresh := call.prepared(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			whole := &counter{}
			_ = run(ctx, counting{fresh(), whole}) // an error, or the end of the time
			cancel()
			for _, at := range []int{1, whole.all / 2, whole.all - 1} {
				if at < 1 || at > whole.all {
					continue // there is none to cancel at, and the call would run to its end
				}
				ctx, cancel := context.WithCancel(t.Context())
				c := &counter{at: at, cancel: cancel}
				_ = run(ctx, counting{fresh(), c})
				cancel()
				if after := c.all - at; after > maxAfter {
					t.Errorf("%d operations after the cancel at operation %d of %d, want at most %d", after, at, whole.all, maxAfter)
				}
			}
		})
	}
}

// counter counts operations, and cancels at one of them.
type counter struct {
	mu     sync.Mutex
	all    int
	at     int
	cancel context.CancelFunc
}

func (c *counter) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all++; c.all == c.at {
		c.cancel()
	}
}

// counting is a runtime whose operations on files are counted.
type counting struct {
	*tooltest.Runtime
	counter *counter
}

func (r counting) FS() tools.FS { return countingFS{r.Runtime.FS(), r.counter} }

type countingFS struct {
	tools.FS
	counter *counter
}

func (f countingFS) Stat(ctx context.Context, path string) (tools.FileInfo, error) {
	f.counter.count()
	return f.FS.Stat(ctx, path)
}

func (f countingFS) ReadText(ctx context.Context, path string) (tools.Text, error) {
	f.counter.count()
	return f.FS.ReadText(ctx, path)
}

func (f countingFS) WriteText(ctx context.Context, path, text string, before *tools.Text) error {
	f.counter.count()
	return f.FS.WriteText(ctx, path, text, before)
}

func (f countingFS) Open(ctx context.Context, path string) (tools.File, error) {
	f.counter.count()
	file, err := f.FS.Open(ctx, path)
	return countingFile{file, f.counter}, err
}

func (f countingFS) Dir(ctx context.Context, path string) (search.Dir, error) {
	f.counter.count()
	dir, err := f.FS.Dir(ctx, path)
	return countingDir{dir, f.counter}, err
}

type countingFile struct {
	tools.File
	counter *counter
}

func (f countingFile) Read(p []byte) (int, error) {
	f.counter.count()
	return f.File.Read(p)
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	f.counter.count()
	return f.File.ReadAt(p, off)
}

type countingDir struct {
	search.Dir
	counter *counter
}

func (d countingDir) ReadDir() ([]fs.DirEntry, error) {
	d.counter.count()
	return d.Dir.ReadDir()
}

func (d countingDir) Open(name string) (search.File, error) {
	d.counter.count()
	return d.Dir.Open(name)
}

func (d countingDir) Sub(name string) (search.Dir, error) {
	d.counter.count()
	sub, err := d.Dir.Sub(name)
	return countingDir{sub, d.counter}, err
}
