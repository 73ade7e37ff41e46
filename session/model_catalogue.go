package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/model"
)

// learnTimeout bounds how long a server is asked about a model and for its list: a session works
// without the answers.
const learnTimeout = 15 * time.Second

// modelCatalogue is what model servers have said about themselves and their models. They are asked in
// the background, once for all sessions of the process. It belongs to the [Host], so that the end of one
// session does not interrupt a question whose answer another session needs. The zero value is empty.
// It is safe for concurrent use; closing background ends it.
type modelCatalogue struct {
	background background

	mu    sync.Mutex // guards what follows
	known map[modelKey]*modelKnowledge
	lists map[model.Provider][]model.Info
}

// modelKey is a model of a server.
type modelKey struct {
	provider model.Provider
	model    string
}

// modelKnowledge is what a server has said about a model. done is closed when the questions are over;
// the other fields do not change after that. failed says that the server could not answer within
// learnTimeout, so that the next call of learn asks again.
type modelKnowledge struct {
	done     chan struct{}
	warnings []string
	failed   bool
}

// complete reports whether the questions are over.
func (k *modelKnowledge) complete() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// askAgain is the pause before a server that could not answer is asked again.
const askAgain = time.Second

// probe asks a server about a model, and reports whether it is to be asked again: a server that is
// still loading the model cannot answer yet. After any other failure the model stays unknown.
func (k *modelKnowledge) probe(ctx context.Context, provider model.Provider, id string) (again bool) {
	warnings, err := provider.Probe(ctx, id)
	if err == nil {
		k.warnings = warnings
		return false
	}
	return model.AsError(err).Kind == model.Transient
}

// probeAgain probes every askAgain, until the server can answer or ctx ends.
func (k *modelKnowledge) probeAgain(ctx context.Context, provider model.Provider, id string) {
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

// learn returns what is known of a model. It asks the server, in the background, when no session has
// asked before, or when the server could not answer then.
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
	started := m.background.start(func(ctx context.Context) {
		defer close(k.done)
		ctx, cancel := context.WithTimeout(ctx, learnTimeout)
		defer cancel()
		again := k.probe(ctx, provider, id)
		if infos, err := provider.Models(ctx); err == nil {
			m.mu.Lock()
			m.lists[provider] = infos
			m.mu.Unlock()
		}
		if again {
			k.probeAgain(ctx, provider, id)
		}
	})
	if !started {
		close(k.done)
	}
	return k
}

// list returns the models that a server offers, as far as they are known.
func (m *modelCatalogue) list(provider model.Provider) []model.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lists[provider])
}
