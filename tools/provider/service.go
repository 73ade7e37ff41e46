package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"acp-agent/tools"
)

// Options are what a Service works with.
type Options struct {
	// Start starts the program of a provider, confined and with the environment of
	// programs. Closing what it returns ends the program with all that it started, waits
	// for that, and wakes all reads and writes; it may be closed more than once, by
	// several goroutines. Start is called from several, too.
	Start func(ctx context.Context, c Config, stderr io.Writer) (io.ReadWriteCloser, error)
	// Version is the agent's.
	Version string
	// Logger gets what goes wrong; nil means that no one does.
	Logger *slog.Logger
}

// Service is the providers of one session. Its methods are safe for concurrent use.
//
// Goroutines: one for each provider that is reached for the first time or asked again for
// its tools, and two for each program; Close ends and waits for all of them.
type Service struct {
	o      Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	// all are in the order of the configuration.
	all []*provider

	mu         sync.Mutex
	running    sync.WaitGroup
	start      time.Time // zero means not yet
	closed     bool
	generation int
	problems   []error  // of entries that are none
	none       []Status // those entries
}

var errClosed = errors.New("the session is closed")

// New returns a Service. Nothing is started before Begin. An entry that cannot be used is
// a problem and no provider.
func New(configs []Config, o Options) *Service {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{o: o}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	for _, c := range configs {
		if err := c.check(); err != nil {
			s.problems = append(s.problems, problem(c.Name, err))
			s.none = append(s.none, Status{Name: c.Name, Type: c.Type, Place: c.place(), State: Failed, Problems: []string{err.Error()}})
			o.Logger.Warn("tool provider", "name", c.Name, "error", err.Error())
			continue
		}
		s.all = append(s.all, newProvider(c, s))
	}
	return s
}

func problem(name string, err error) error { return fmt.Errorf("tool provider %q: %w", name, err) }

// Begin reaches for all providers at once, in the background. A second Begin asks providers
// at an address whether their tools have changed.
func (s *Service) Begin() {
	s.mu.Lock()
	first := s.start.IsZero()
	if first {
		s.start = time.Now()
	}
	s.mu.Unlock()
	for _, p := range s.all {
		if first {
			s.spawn(p.firstReach)
		} else if p.Type == HTTP && p.tried() {
			p.ask()
		}
	}
}

// spawn runs f until Close at most; after it, f is not run.
func (s *Service) spawn(f func(context.Context)) (started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Go(func() { f(s.ctx) })
	return true
}

// Settle waits until each provider has been reached, or has failed once, and a moment longer
// for the working ones to answer what Begin asked; or until ctx ends. It does not wait for what
// started before since. Begin comes before it.
func (s *Service) Settle(ctx context.Context, since time.Time) {
	for _, p := range s.all {
		if !s.startTime().Before(since) {
			select {
			case <-p.triedOnce:
			case <-ctx.Done():
				return
			}
		}
		p.awaitAnswer(ctx)
	}
}

// startTime is when Begin was first called.
func (s *Service) startTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start
}

// Tools are those of all providers. They stay while a provider is away, so that a call
// starts it again or says so. generation is another one when they have changed.
func (s *Service) Tools() (list []tools.Tool, generation int) {
	s.mu.Lock()
	generation = s.generation
	s.mu.Unlock()
	for _, p := range s.all {
		p.mu.Lock()
		list = append(list, p.tools...)
		p.mu.Unlock()
	}
	return list, generation
}

// Problems are what is wrong with providers and their tools, one error each.
func (s *Service) Problems() []error {
	s.mu.Lock()
	list := append([]error(nil), s.problems...)
	s.mu.Unlock()
	for _, p := range s.all {
		list = append(list, p.problems()...)
	}
	return list
}

func (s *Service) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
}

// execute calls a tool of a provider, both by their own names.
func (s *Service) execute(ctx context.Context, rt tools.Runtime, name, tool string, args json.RawMessage) (*tools.Result, error) {
	p := s.find(name)
	if p == nil {
		return nil, tools.Errorf(tools.Unavailable, "Tool provider %s not found", name)
	}
	answer, err := p.execute(ctx, map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	return result(rt, answer)
}

// find returns a provider; after Close there is none.
func (s *Service) find(name string) *provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		if p.Name == name && !s.closed {
			return p
		}
	}
	return nil
}

// Close ends all providers, and returns when their programs have ended.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errClosed)
	var closing sync.WaitGroup
	for _, p := range s.all {
		closing.Go(p.child.Close)
	}
	closing.Wait()
	s.running.Wait()
}
