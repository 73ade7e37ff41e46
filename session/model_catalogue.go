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

// modelCatalogue is what has been learned of servers and models, in the background
// and once for all sessions of the process. It belongs to the host: a session
// that ends takes nothing away from the others.
type modelCatalogue struct {
	mu      sync.Mutex
	known   map[modelKey]*modelKnowledge
	lists   map[model.Provider][]model.Info
	working sync.WaitGroup
	cancel  []context.CancelFunc
	closed  bool
}

// modelKey is a model of a server.
type modelKey struct {
	provider model.Provider
	model    string
}

// modelKnowledge is complete when done is closed. failed says that the server could not tell
// even then, so that it is asked again when there is next reason to.
type modelKnowledge struct {
	done     chan struct{}
	warnings []string
	failed   bool
}

// complete reports whether everything has been asked.
func (k *modelKnowledge) complete() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// askAgain is the pause before a server that could not tell is asked again.
const askAgain = time.Second

// probe asks a server about a model, and reports whether there is reason to ask again: one
// that loads the model cannot tell yet. What it cannot tell ever stays unknown.
func (k *modelKnowledge) probe(ctx context.Context, provider model.Provider, id string) (again bool) {
	warnings, err := provider.Probe(ctx, id)
	if err == nil {
		k.warnings = warnings
		return false
	}
	return model.AsError(err).Kind == model.Transient
}

// insist is probe until the server can tell, or ctx ends.
func (k *modelKnowledge) insist(ctx context.Context, provider model.Provider, id string) {
	pause := time.NewTicker(askAgain)
	defer pause.Stop()
	for again := true; again; again = k.probe(ctx, provider, id) {
		select {
		case <-pause.C:
		case <-ctx.Done():
			k.failed = true
			return
		}
	}
}

// learn returns what is known of a model, and asks the server when no session has yet, or when the
// server could not tell.
func (m *modelCatalogue) learn(provider model.Provider, id string) *modelKnowledge {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := modelKey{provider, id}
	if k := m.known[key]; k != nil && !(k.complete() && k.failed) {
		return k
	}
	k := &modelKnowledge{done: make(chan struct{})}
	if m.known == nil {
		m.known, m.lists = map[modelKey]*modelKnowledge{}, map[model.Provider][]model.Info{}
	}
	m.known[key] = k
	if m.closed {
		close(k.done)
		return k
	}
	ctx, cancel := context.WithTimeout(context.Background(), learnTimeout)
	m.cancel = append(m.cancel, cancel)
	m.working.Go(func() {
		defer cancel()
		defer close(k.done)
		again := k.probe(ctx, provider, id)
		if infos, err := provider.Models(ctx); err == nil {
			m.mu.Lock()
			m.lists[provider] = infos
			m.mu.Unlock()
		}
		if again {
			k.insist(ctx, provider, id)
		}
	})
	return k
}

// list returns the models that a server offers, as far as they are known.
func (m *modelCatalogue) list(provider model.Provider) []model.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lists[provider])
}

// ending reports whether close was called.
func (m *modelCatalogue) ending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// onClose has close call a function; after close it is called at once.
func (m *modelCatalogue) onClose(cancel context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		cancel()
	}
	m.cancel = append(m.cancel, cancel)
}

// close ends all asking and waits for it.
func (m *modelCatalogue) close() {
	m.mu.Lock()
	m.closed = true
	for _, cancel := range m.cancel {
		cancel()
	}
	m.mu.Unlock()
	m.working.Wait()
}
