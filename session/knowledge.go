package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/model"
)

// learnTimeout bounds what a server is asked about a model and its list; both
// are a convenience.
const learnTimeout = 15 * time.Second

// library is what has been learned of servers and models, behind the scenes
// and once for all sessions of the process. It belongs to the host: a session
// that ends takes nothing away from the others.
type library struct {
	mu      sync.Mutex
	known   map[subject]*knowledge
	lists   map[model.Provider][]model.Info
	working sync.WaitGroup
	cancel  []context.CancelFunc
	closed  bool
}

// subject is a model of a server.
type subject struct {
	provider model.Provider
	model    string
}

// knowledge is complete when done is closed.
type knowledge struct {
	done     chan struct{}
	warnings []string
}

// complete reports whether everything has been asked.
func (k *knowledge) complete() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// learn returns what is known of a model, and begins to ask when nobody has.
func (l *library) learn(provider model.Provider, id string) *knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := subject{provider, id}
	if k := l.known[key]; k != nil {
		return k
	}
	k := &knowledge{done: make(chan struct{})}
	if l.known == nil {
		l.known, l.lists = map[subject]*knowledge{}, map[model.Provider][]model.Info{}
	}
	l.known[key] = k
	if l.closed {
		close(k.done)
		return k
	}
	ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
	l.cancel = append(l.cancel, cancel)
	l.working.Go(func() {
		defer cancel()
		defer close(k.done)
		k.warnings, _ = provider.Probe(ctx, id) // what it cannot tell stays unknown
		if infos, err := provider.Models(ctx); err == nil {
			l.mu.Lock()
			l.lists[provider] = infos
			l.mu.Unlock()
		}
	})
	return k
}

// list returns the models that a server offers, as far as they are known.
func (l *library) list(provider model.Provider) []model.Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lists[provider])
}

// ending reports whether close was called.
func (l *library) ending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// close ends all asking and waits for it.
func (l *library) close() {
	l.mu.Lock()
	l.closed = true
	for _, cancel := range l.cancel {
		cancel()
	}
	l.mu.Unlock()
	l.working.Wait()
}
