package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// hanging is a writer that writes nothing until it is let.
type hanging struct {
	let chan struct{}
	mu  sync.Mutex
	got strings.Builder
}

func (h *hanging) write(record []byte) {
	<-h.let
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got.Write(record)
}

// TestOutlet_Hangs has a writer hang while much more is put than there is room for: put
// returns, the first records are kept in their order, and the log says how many are
// missing and where.
func TestOutlet_Hangs(t *testing.T) {
	const records, size = 5000, 1000
	h := &hanging{let: make(chan struct{})}
	o := &outlet{write: h.write}
	for i := range records {
		o.put(fmt.Appendf(nil, "%08d%s\n", i, strings.Repeat(".", size-9)))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	o.flush(ended) // does not wait for the writer
	close(h.let)
	o.flush(t.Context())
	o.put([]byte("later\n"))
	o.flush(t.Context())

	lines := strings.Split(strings.TrimSpace(h.got.String()), "\n")
	kept := maxWaiting / size
	if len(lines) != kept+2 {
		t.Fatalf("%d lines are there, want %d records, the count and the last", len(lines), kept)
	}
	for i, line := range lines[:kept] {
		if !strings.HasPrefix(line, fmt.Sprintf("%08d.", i)) {
			t.Fatalf("line %d is %.20q", i, line)
		}
	}
	if want := fmt.Sprintf("count=%d", records-kept); !strings.HasSuffix(lines[kept], want) || lines[kept+1] != "later" {
		t.Errorf("after the records: %q, want a line that ends in %s, and then the later record", lines[kept:], want)
	}
}

// TestOutlet_Concurrent loses nothing when many put at once and the goroutine that writes
// ends and is started again.
func TestOutlet_Concurrent(t *testing.T) {
	var got int
	o := &outlet{write: func([]byte) { got++ }}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				o.put([]byte("x"))
			}
		})
	}
	group.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.flush(ctx)
	if got != 1600 {
		t.Errorf("%d records were written, want 1600", got)
	}
}
