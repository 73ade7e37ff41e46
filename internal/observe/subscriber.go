package observe

import (
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
)

// queueLimit is how many events may wait for one subscriber.
const queueLimit = 256

// subscriber is one listener. Its goroutine, run, is started by Subscribe,
// waits on queue, and ends after abandon at once, after finish when the queue
// is empty. A listener that never returns keeps it.
type subscriber struct {
	name  string
	f     func(Event)
	log   *slog.Logger
	queue chan Event

	finishing, abandoned         chan struct{} // closed by finish and abandon
	finishOnce, abandonOnce      sync.Once
	reportPanicked, reportMissed sync.Once
	missed                       atomic.Int64
	ended                        chan struct{} // closed when run returned
}

func newSubscriber(name string, f func(Event), log *slog.Logger) *subscriber {
	return &subscriber{
		name: name, f: f, log: log, queue: make(chan Event, queueLimit),
		finishing: make(chan struct{}), abandoned: make(chan struct{}), ended: make(chan struct{}),
	}
}

func (s *subscriber) offer(e Event) {
	select {
	case s.queue <- e:
	default:
		s.missed.Add(1)
	}
}

// finish lets run end when it has delivered what is queued.
func (s *subscriber) finish() { s.finishOnce.Do(func() { close(s.finishing) }) }

// abandon lets run end before the next delivery.
func (s *subscriber) abandon() { s.abandonOnce.Do(func() { close(s.abandoned) }) }

// run delivers events. gone is called at its end, which f can bring about too
// by runtime.Goexit.
func (s *subscriber) run(gone func()) {
	defer close(s.ended)
	defer gone()
	for {
		select {
		case <-s.abandoned:
			return
		default:
		}
		select {
		case e := <-s.queue:
			s.deliver(e)
		case <-s.abandoned:
			return
		case <-s.finishing:
			select {
			case e := <-s.queue:
				s.deliver(e)
			default:
				return
			}
		}
	}
}

// deliver calls f and contains what it does. The loss of events is reported
// here and not by offer, because writing a log line can wait.
func (s *subscriber) deliver(e Event) {
	defer func() {
		if v := recover(); v != nil {
			s.reportPanicked.Do(func() {
				s.log.Warn("event subscriber panicked", "subscriber", s.name, "event", e.Name, "panic", fmt.Sprint(v))
			})
		}
		if n := s.missed.Load(); n > 0 {
			s.reportMissed.Do(func() {
				s.log.Warn("event subscriber is too slow and missed events", "subscriber", s.name, "missed", n)
			})
		}
	}()
	e.Fields = maps.Clone(e.Fields)
	s.f(e)
}
