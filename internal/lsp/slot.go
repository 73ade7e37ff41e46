package lsp

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/internal/supervise"
	"acp-agent/internal/textcut"
)

// maxRestarts is how often a server that ends is started again without having
// answered in between.
const maxRestarts = 3

// maxStderr is how much of the end of a server's standard error is kept, in bytes, for the
// message that the server has ended.
const maxStderr = 2048

type slotKey struct{ server, root string }

// slot holds one server: before its start, while it runs and between two starts.
type slot struct {
	users  int    // queries; guarded by the manager
	used   uint64 // when it was claimed, by the manager's count; guarded by the manager
	server *supervise.Child[*connection]
}

// claim returns the slot of a server, for one query. When there are too many,
// the one that was used longest ago ends.
func (m *Manager) claim(server Server, root string) (*slot, error) {
	key := slotKey{server.Name, root}
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
		s = &slot{server: supervise.New(supervise.Attempts{Max: maxRestarts + 1}, func(ctx context.Context) (*connection, error) {
			return m.start(ctx, server, root)
		})}
		m.slots[key] = s
	}
	m.claims++
	s.users++
	s.used = m.claims
	m.mu.Unlock()
	if evicted != nil {
		evicted.server.Close()
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

// ask puts the query to the slot's server, which is started if need be.
func (s *slot) ask(ctx context.Context, server Server, q Query) (*Answer, error) {
	c, err := s.server.Use(ctx)
	if _, gaveUp := errors.AsType[*supervise.GaveUpError](err); gaveUp {
		return nil, fmt.Errorf("%s: %w", server.Name, err)
	}
	if err != nil {
		return nil, err
	}
	answer, err := c.ask(ctx, q)
	if err == nil {
		s.server.Worked()
	}
	return answer, err
}

// start starts a server and initializes it.
func (m *Manager) start(ctx context.Context, server Server, root string) (*connection, error) {
	stderr := textcut.NewTail(maxStderr)
	pipe, err := m.o.Start(ctx, server.Argv, root, stderr)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", server.Name, err)
	}
	c, err := connect(ctx, server, root, &m.o, pipe, stderr)
	var lost *lostError
	if errors.As(err, &lost) {
		lost.stderr = stderr.String() // all of it has arrived by now
	}
	return c, err
}

// note notes files that were changed, for the server's next query.
func (s *slot) note(paths []string) {
	if c, started := s.server.Current(); started {
		c.docs.note(paths)
	}
}
