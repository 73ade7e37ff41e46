package launch

import (
	"slices"
	"sync"
	"time"
)

const (
	// spareAge is how long a spare helper waits for a command.
	spareAge = time.Minute
	// maxSpares bounds the spare helpers of a launcher; the oldest makes room.
	maxSpares = 2
)

// spares are helpers that were started before there is a command for them, or whose command has ended. They hold
// nothing of any command: each has its channels, and waits to read a spec. The zero value
// is ready.
type spares struct {
	mu      sync.Mutex
	waiting []*spare // oldest first
	ending  []*spare // helpers that made room, or waited too long, until they are gone
}

// spare is one helper. What follows argv is set once started is closed; helper is nil when
// it could not be started.
type spare struct {
	argv    []string
	started chan struct{}
	helper  *helperProcess
	expiry  *time.Timer
	ended   sync.Once
}

// Warm starts a helper for the next command that has this [Spec.Enter], unless one waits
// already. It returns at once. A helper that no command comes for ends after a minute, with
// [Launcher.Dismiss], or with the agent.
func (l *Launcher) Warm(enter []string) {
	argv := l.helperArgv(Spec{Enter: enter})
	l.spares.mu.Lock()
	if slices.ContainsFunc(l.spares.waiting, func(s *spare) bool { return slices.Equal(s.argv, argv) }) {
		l.spares.mu.Unlock()
		return
	}
	s := &spare{argv: argv, started: make(chan struct{})}
	oldest := l.spares.add(s)
	l.spares.mu.Unlock()
	go func() { // ends when the helper is started, and the one that made room is gone
		s.start(&l.spares)
		if oldest != nil {
			l.spares.finish(oldest)
		}
	}()
}

// put has a helper whose command has ended wait for the next one.
func (p *spares) put(h *helperProcess) {
	h.streams, h.channels = streams{}, channels{}
	s := &spare{argv: h.argv, started: make(chan struct{})}
	s.wait(h, p)
	close(s.started)
	p.mu.Lock()
	oldest := p.add(s)
	p.mu.Unlock()
	if oldest != nil {
		go p.finish(oldest) // ends when that one is gone
	}
}

// add puts a helper on the list, and returns the one that makes room, for finish; nil is none. The caller holds
// the lock.
func (p *spares) add(s *spare) (oldest *spare) {
	p.waiting = append(p.waiting, s)
	if len(p.waiting) <= maxSpares {
		return nil
	}
	oldest = p.waiting[0]
	p.retire(oldest)
	return oldest
}

// Dismiss ends the helpers that wait for a command, and returns when they are gone.
func (l *Launcher) Dismiss() {
	l.spares.mu.Lock()
	all := slices.Concat(l.spares.waiting, l.spares.ending)
	l.spares.waiting = nil
	l.spares.mu.Unlock()
	var ends sync.WaitGroup
	for _, s := range all {
		ends.Go(s.end) // at once: the kernel takes a while for each
	}
	ends.Wait()
}

// expire ends a helper that has waited too long, unless a command has taken it.
func (p *spares) expire(s *spare) {
	p.mu.Lock()
	retired := p.retire(s)
	p.mu.Unlock()
	if retired {
		p.finish(s)
	}
}

// retire takes a helper that waits off the list, for finish, and reports whether it was there.
// The caller holds the lock.
func (p *spares) retire(s *spare) bool {
	i := slices.Index(p.waiting, s)
	if i < 0 {
		return false
	}
	p.waiting, p.ending = slices.Delete(p.waiting, i, i+1), append(p.ending, s)
	return true
}

// finish ends a helper that was retired.
func (p *spares) finish(s *spare) {
	s.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = slices.DeleteFunc(p.ending, func(other *spare) bool { return other == s })
}

// take returns a helper that waits and was started by argv, which is the caller's from now
// on; nil when there is none.
func (p *spares) take(argv []string) *helperProcess {
	s := p.remove(func(s *spare) bool { return slices.Equal(s.argv, argv) })
	if s == nil {
		return nil
	}
	<-s.started
	if s.helper == nil {
		return nil
	}
	s.expiry.Stop()
	return s.helper
}

// remove takes a helper off the list; nil when none is meant.
func (p *spares) remove(meant func(*spare) bool) *spare {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.waiting, meant)
	if i < 0 {
		return nil
	}
	s := p.waiting[i]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return s
}

func (s *spare) start(of *spares) {
	defer close(s.started)
	h, err := startHelper(s.argv, wiring{})
	if err != nil { // the command that comes meets the same error, and reports it
		of.remove(func(other *spare) bool { return other == s })
		return
	}
	s.wait(h, of)
}

// wait has the helper of a spare wait, for a while.
func (s *spare) wait(h *helperProcess, of *spares) {
	s.helper = h
	s.expiry = time.AfterFunc(spareAge, func() { of.expire(s) })
}

// end ends a helper that no command has come for, and returns when it is gone.
func (s *spare) end() {
	<-s.started
	if s.helper == nil {
		return
	}
	s.ended.Do(func() {
		s.expiry.Stop()
		s.helper.end()
	})
}
