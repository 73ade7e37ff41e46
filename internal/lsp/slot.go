package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"acp-agent/internal/textcut"
)

// maxRestarts is how often a server that ends is started again without having
// answered in between.
const maxRestarts = 3

// maxStderr is how much of the end of a server's standard error is kept, in bytes, for the
// message that the server has ended.
const maxStderr = 2048

type slotKey struct{ server, root string }

// slot is the place of one server. It is there while the server is not, before
// its start and between two starts.
type slot struct {
	users int    // queries; guarded by the manager
	used  uint64 // when it was claimed, by the manager's count; guarded by the manager

	starting chan struct{} // a token for whoever looks after the connection

	mu    sync.Mutex
	conn  *connection
	ended int // how often it ended since it last answered
	why   error
}

// claim returns the slot of a server, for one query. When there are too many,
// the one that was used longest ago ends.
func (m *Manager) claim(key slotKey) (*slot, error) {
	m.mu.Lock()
	s := m.slots[key]
	var evicted *slot
	if s == nil {
		if len(m.slots) >= m.o.Running {
			if evicted = m.evict(); evicted == nil {
				m.mu.Unlock()
				return nil, fmt.Errorf("%d language servers are at work already", m.o.Running)
			}
		}
		s = &slot{starting: make(chan struct{}, 1)}
		m.slots[key] = s
	}
	m.claims++
	s.users++
	s.used = m.claims
	m.mu.Unlock()
	if evicted != nil {
		evicted.close()
	}
	return s, nil
}

// evict takes out the slot that was used longest ago and is not used now; nil
// when all are. The caller holds mu.
func (m *Manager) evict() *slot {
	var oldest *slot
	var key slotKey
	for k, s := range m.slots {
		if s.users == 0 && (oldest == nil || s.used < oldest.used) {
			oldest, key = s, k
		}
	}
	if oldest != nil {
		delete(m.slots, key)
	}
	return oldest
}

func (m *Manager) release(s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
}

// ask puts the query to the slot's server.
func (s *slot) ask(ctx context.Context, m *Manager, server Server, root string, q Query) (*Answer, error) {
	c, err := s.connection(ctx, m, server, root)
	if err != nil {
		return nil, err
	}
	answer, err := c.ask(ctx, q)
	if err == nil {
		s.mu.Lock()
		s.ended = 0
		s.mu.Unlock()
	}
	return answer, err
}

// connection returns the running server, started if need be.
func (s *slot) connection(ctx context.Context, m *Manager, server Server, root string) (*connection, error) {
	select {
	case s.starting <- struct{}{}:
		defer func() { <-s.starting }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c := s.current(); c != nil {
		if c.alive() {
			return c, nil
		}
		c.kill() // what it left open
		c.join()
		s.end(c.lost())
	}
	s.mu.Lock()
	ended, why := s.ended, s.why
	s.mu.Unlock()
	if ended > maxRestarts {
		return nil, fmt.Errorf("%s is not started again, after %d failures in a row: %w", server.Name, ended, why)
	}
	c, err := m.start(ctx, server, root)
	if err != nil {
		if ctx.Err() == nil {
			s.end(err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
	return c, nil
}

// start starts a server and introduces us.
func (m *Manager) start(ctx context.Context, server Server, root string) (*connection, error) {
	stderr := textcut.NewTail(maxStderr)
	pipe, err := m.o.Start(ctx, server.Argv, root, stderr)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", server.Name, err)
	}
	c, err := connect(ctx, server, root, &m.o, &m.work, pipe, stderr)
	var lost *lostError
	if errors.As(err, &lost) {
		lost.words = stderr.String() // all of them have arrived by now
	}
	return c, err
}

func (s *slot) current() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// end notes that the server is gone, or did not come.
func (s *slot) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.why = nil, why
	s.ended++
}

func (s *slot) note(paths []string) {
	if c := s.current(); c != nil {
		c.docs.note(paths)
	}
}

// close ends the slot's server. Nobody uses it any more.
func (s *slot) close() {
	if c := s.current(); c != nil {
		c.close()
	}
}
