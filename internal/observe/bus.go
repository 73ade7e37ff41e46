package observe

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bus hands events to its subscribers. A nil *Bus is valid and does nothing.
// It is safe for concurrent use, also from within a subscriber.
type Bus struct {
	log *slog.Logger

	// subscribers is replaced as a whole, never changed, so that Publish reads
	// it without a lock.
	subscribers atomic.Pointer[[]*subscriber]

	mu     sync.Mutex // guards writes of subscribers, and all below
	closed bool
	// running are the subscribers whose goroutine has not ended.
	running map[*subscriber]bool
	names   map[string]contribution
	serial  uint64
}

// New returns a Bus. Panics and overflows of subscribers are reported to log,
// once for each; nil reports them nowhere.
func New(log *slog.Logger) *Bus {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Bus{log: log, running: map[*subscriber]bool{}, names: map[string]contribution{}}
}

// Active reports whether anyone listens, for publishers whose events are
// costly to make.
func (b *Bus) Active() bool {
	return b != nil && b.subscribers.Load() != nil
}

// Publish hands an event to every subscriber of the moment. It never waits: a
// subscriber whose queue is full misses the event (R131). One goroutine's
// events reach each subscriber in the order they were published.
func (b *Bus) Publish(e Event) {
	if b == nil {
		return
	}
	subscribers := b.subscribers.Load()
	if subscribers == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	for _, s := range *subscribers {
		s.offer(e)
	}
}

// Subscribe calls f for every event published from now on, one at a time, in
// a goroutine of its own. f may take its time: up to 256 events wait, further
// ones are lost for this subscriber. A panic of f is contained; the next event
// is delivered as usual. The name is for the log.
//
// unsubscribe ends the subscription without waiting: events still queued are
// not delivered, a call of f that is under way runs on. It may be called from
// f, and more than once. On a nil or closed Bus nothing is ever delivered.
func (b *Bus) Subscribe(name string, f func(Event)) (unsubscribe func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return func() {}
	}
	s := newSubscriber(name, f, b.log)
	b.set(append(slices.Clone(b.current()), s))
	b.running[s] = true
	go s.run(func() { b.remove(s, true) }) // Close waits for it
	return func() {
		b.remove(s, false)
		s.abandon()
	}
}

// Close ends all subscriptions once they have seen what was published before,
// and waits for that until ctx ends. The error then names the subscribers that
// still run; they get nothing more. Publishing to a closed Bus does nothing.
func (b *Bus) Close(ctx context.Context) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	b.closed = true
	open := slices.Collect(maps.Keys(b.running))
	b.set(nil)
	b.mu.Unlock()

	for _, s := range open {
		s.finish()
	}
	var stuck []string
	for _, s := range open {
		select {
		case <-s.ended:
		case <-ctx.Done():
			s.abandon()
			stuck = append(stuck, s.name)
		}
	}
	if len(stuck) > 0 {
		slices.Sort(stuck)
		return fmt.Errorf("subscribers still run: %s: %w", strings.Join(stuck, ", "), context.Cause(ctx))
	}
	return nil
}

func (b *Bus) current() []*subscriber {
	if list := b.subscribers.Load(); list != nil {
		return *list
	}
	return nil
}

func (b *Bus) set(list []*subscriber) {
	if len(list) == 0 {
		b.subscribers.Store(nil)
		return
	}
	b.subscribers.Store(&list)
}

func (b *Bus) remove(s *subscriber, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ended {
		delete(b.running, s)
	}
	b.set(slices.DeleteFunc(slices.Clone(b.current()), func(x *subscriber) bool { return x == s }))
}
