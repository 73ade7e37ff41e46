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

// knowledge is complete when done is closed. failed says that the server could not tell
// even then, so that it is asked again when there is next reason to.
type knowledge struct {
	done     chan struct{}
	warnings []string
	failed   bool
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

// askAgain is the pause before a server that could not tell is asked again.
const askAgain = time.Second

// probe asks a server about a model, and reports whether there is reason to ask again: one
// that loads the model cannot tell yet. What it cannot tell ever stays unknown.
func (k *knowledge) probe(ctx context.Context, provider model.Provider, id string) (again bool) {
	warnings, err := provider.Probe(ctx, id)
	if err == nil {
		k.warnings = warnings
		return false
	}
	return model.AsError(err).Kind == model.Transient
}

// insist is probe until the server can tell, or ctx ends.
func (k *knowledge) insist(ctx context.Context, provider model.Provider, id string) {
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

// learn returns what is known of a model, and begins to ask when nobody has, or when the
// server could not tell.
func (l *library) learn(provider model.Provider, id string) *knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := subject{provider, id}
	if k := l.known[key]; k != nil && !(k.complete() && k.failed) {
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
		again := k.probe(ctx, provider, id)
		if infos, err := provider.Models(ctx); err == nil {
			l.mu.Lock()
			l.lists[provider] = infos
			l.mu.Unlock()
		}
		if again {
			k.insist(ctx, provider, id)
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
