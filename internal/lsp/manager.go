package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/pathname"
)

// Options are what a Manager is made of.
type Options struct {
	// Servers are tried in their order; nil means DefaultServers.
	Servers []Server
	// Roots are the absolute directories whose files may be asked about.
	Roots []string
	// LookPath reports whether a program can be started.
	LookPath func(name string) (path string, ok bool)
	// Start starts a program in a directory and returns its output to read and
	// its input to write. stderr gets its errors. Close must end its process tree
	// and the reads and writes that wait. ctx bounds the start alone.
	Start func(ctx context.Context, argv []string, dir string, stderr io.Writer) (io.ReadWriteCloser, error)
	// Open opens a regular file that a server pointed at, or that was changed, and
	// refuses what the session may not read. A file that is gone is fs.ErrNotExist.
	Open func(path string) (io.ReadCloser, error)
	// Running is how many servers there are at most; 0 means 4. One more takes
	// the place of the one that was asked longest ago.
	Running int
	// StartWait is how long a server may take to introduce itself; 0 means 60 s.
	StartWait time.Duration
	// PublishWait is how long is waited for findings of a server that cannot be
	// asked for them, and Settle how long it must be silent until they count as
	// complete; 0 means 15 s and 700 ms.
	PublishWait, Settle time.Duration
	// Grace is the time a server has to end when it is told to; 0 means 1 s.
	Grace time.Duration
}

func (o *Options) fill() {
	if o.Servers == nil {
		o.Servers = DefaultServers()
	}
	if o.Running <= 0 {
		o.Running = 4
	}
	for _, d := range []struct {
		field    *time.Duration
		standard time.Duration
	}{
		{&o.StartWait, time.Minute},
		{&o.PublishWait, 15 * time.Second},
		{&o.Settle, 700 * time.Millisecond},
		{&o.Grace, time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.standard
		}
	}
}

// ErrClosed is the error of a query to a manager that was closed.
var ErrClosed = errors.New("lsp: language servers are closed")

// Manager owns the language servers of a session. It is safe for concurrent use.
type Manager struct {
	o    Options
	asks sync.WaitGroup // queries under way
	work sync.WaitGroup // goroutines of queries
	over chan struct{}  // closed when Close begins
	gone chan struct{}  // closed when Close is done

	mu     sync.Mutex
	closed bool
	slots  map[slotKey]*slot
	claims uint64
}

// New returns a manager. It starts nothing.
func New(o Options) *Manager {
	o.fill()
	return &Manager{o: o, over: make(chan struct{}), gone: make(chan struct{}), slots: map[slotKey]*slot{}}
}

// Any reports whether the program of any server is installed.
func (m *Manager) Any() bool {
	return slices.ContainsFunc(m.o.Servers, func(s Server) bool {
		_, ok := m.o.LookPath(s.Argv[0])
		return ok
	})
}

// Ask puts a query to the server for the file, which is started when it does not
// run. The error is a *MissingError when there is no server, ctx's cause when it
// ended first, else what went wrong with the server; the next query starts one
// that ended, at most three times in a row.
func (m *Manager) Ask(ctx context.Context, q Query) (*Answer, error) {
	if !m.enter() {
		return nil, ErrClosed
	}
	defer m.asks.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m.work.Go(func() { // ends with the query
		select {
		case <-m.over:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	})
	q.Path = filepath.Clean(q.Path)
	root := pathname.Innermost(m.o.Roots, q.Path)
	if root == "" {
		return nil, fmt.Errorf("%s lies outside the directories of the session", q.Path)
	}
	server, err := choose(m.o.Servers, q.Path, func(name string) bool {
		_, ok := m.o.LookPath(name)
		return ok
	})
	if err != nil {
		return nil, err
	}
	s, err := m.claim(server, root)
	if err != nil {
		return nil, err
	}
	defer m.release(s)
	return s.ask(ctx, server, q)
}

// enter counts a query in; false means that the manager is closed.
func (m *Manager) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.asks.Add(1)
	return true
}

// Changed tells the servers, at their next query, that files were changed,
// created or deleted on disk. Without it they may answer from what they read
// before. Paths are absolute.
func (m *Manager) Changed(paths ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.slots {
		s.note(paths)
	}
}

// Close ends all servers, and the queries under way. It returns when every
// process and goroutine is gone, within Grace and what Start's Close takes. A
// second Close waits for the first.
func (m *Manager) Close() {
	m.mu.Lock()
	first := !m.closed
	m.closed = true
	m.mu.Unlock()
	if !first {
		<-m.gone
		return
	}
	defer close(m.gone)
	close(m.over)
	m.asks.Wait()
	var all sync.WaitGroup
	for _, s := range m.slots { // no query changes them any more
		all.Go(s.server.Close)
	}
	all.Wait()
	m.work.Wait()
}
