package lsp

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// news is what a server says unasked: its findings about the files that are
// open, and what it is busy with.
type news struct {
	mu       sync.Mutex
	files    map[string]*findings // by path; only files that are open
	busy     map[string]bool      // by token
	arrivals chan struct{}        // closed and replaced when something comes
}

// findings are what was last published about a file.
type findings struct {
	version *int // which the server may leave out
	told    bool // since the last change of the text
	at      time.Time
	items   []wireDiagnostic
}

func newNews() news {
	return news{files: map[string]*findings{}, busy: map[string]bool{}, arrivals: make(chan struct{})}
}

// expect drops what was said of a file's earlier text.
func (n *news) expect(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files[path] = &findings{}
}

func (n *news) forget(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.files, path)
}

func (n *news) publish(path string, version *int, items []wireDiagnostic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if f := n.files[path]; f != nil {
		*f = findings{version: version, told: true, at: time.Now(), items: items}
		n.announce()
	}
}

// maxBusy bounds the tokens that are remembered.
const maxBusy = 1000

func (n *news) progress(token, kind string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case kind == "begin" && len(n.busy) < maxBusy:
		n.busy[token] = true
	case kind == "end":
		delete(n.busy, token)
	}
	n.announce()
}

// announce wakes the waiting goroutines. The caller holds mu.
func (n *news) announce() {
	close(n.arrivals)
	n.arrivals = make(chan struct{})
}

// of returns what was said of a version of a file, and what is closed at the
// next news.
func (n *news) of(path string, version int) (f findings, told bool, next <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known := n.files[path]; known != nil {
		f = *known
	}
	return f, f.told && (f.version == nil || *f.version == version), n.arrivals
}

// idle returns whether the server is busy with nothing that it told us of.
func (n *news) idle() (idle bool, next <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.busy) == 0, n.arrivals
}

// published waits for the findings about a version of a file. Servers publish
// several times, first what is quick to find: the last word is spoken when
// nothing has come for a while.
func (c *connection) published(ctx context.Context, path string, version int) ([]wireDiagnostic, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.PublishWait,
		fmt.Errorf("%s said nothing about the file within %v", c.server.Name, c.o.PublishWait))
	defer cancel()
	began := time.Now()
	for {
		f, told, next := c.news.of(path, version)
		var settled <-chan time.Time
		if told {
			quiet := time.Since(f.at)
			if since := time.Since(began); since < quiet {
				quiet = since // the change of another file may still have effects
			}
			if quiet >= c.o.Settle {
				return f.items, nil
			}
			settled = time.After(c.o.Settle - quiet)
		}
		select {
		case <-next:
		case <-settled:
		case <-c.peer.Done():
			return nil, c.lost()
		case <-ctx.Done():
			if told {
				return f.items, nil // it never falls silent
			}
			return nil, context.Cause(ctx)
		}
	}
}

// restWait is how long is waited for a server that is busy. Some never say that
// they are done.
const restWait = 30 * time.Second

// rested waits until the server is busy with nothing, and reports whether it had
// been. A server that still reads its project does not know much.
func (c *connection) rested(ctx context.Context) (wasBusy bool, err error) {
	limit := time.NewTimer(restWait)
	defer limit.Stop()
	for {
		idle, next := c.news.idle()
		if idle {
			return wasBusy, nil
		}
		wasBusy = true
		select {
		case <-next:
		case <-limit.C:
			return false, nil
		case <-c.peer.Done():
			return wasBusy, c.lost()
		case <-ctx.Done():
			return wasBusy, context.Cause(ctx)
		}
	}
}
