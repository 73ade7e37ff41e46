package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/supervise"
)

// process is one whose end a test brings about.
type process struct {
	number int

	mu     sync.Mutex
	err    error
	closed int
}

func (p *process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *process) Close() { p.end(errors.New("closed")) }

func (p *process) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	if p.err == nil {
		p.err = why
	}
}

// factory starts processes, or fails.
type factory struct {
	starts int
	fail   error
}

func (f *factory) start(context.Context) (*process, error) {
	f.starts++
	if f.fail != nil {
		return nil, f.fail
	}
	return &process{number: f.starts}, nil
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	a := supervise.Attempts{Max: 3, Backoff: []time.Duration{time.Second, 5 * time.Second}}
	for i, want := range []time.Duration{0, time.Second, 5 * time.Second, 5 * time.Second} {
		if got := a.Wait(); got != want {
			t.Errorf("after %d failures it waits %v, want %v", i, got, want)
		}
		if gaveUp := a.GaveUp() != nil; gaveUp != (i >= 3) {
			t.Errorf("after %d failures it gave up: %v", i, gaveUp)
		}
		a.Failed(fmt.Errorf("failure %d", i+1))
	}
	const want = "gave up restarting after 4 failures in a row: failure 4"
	if err := a.GaveUp(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if a.Worked(); a.GaveUp() != nil || a.Wait() != 0 {
		t.Error("failures before it worked count")
	}
}

func TestAttempts_WithoutBound(t *testing.T) {
	t.Parallel()
	var a supervise.Attempts
	for range 1000 {
		a.Failed(errors.New("no"))
	}
	if a.GaveUp() != nil || a.Wait() != 0 {
		t.Errorf("it gave up: %v, and waits %v", a.GaveUp(), a.Wait())
	}
}

func TestChild_StartsAgain(t *testing.T) {
	t.Parallel()
	f := &factory{}
	c := supervise.New(supervise.Attempts{Max: 2}, f.start)
	if _, ok := c.Current(); ok {
		t.Error("it runs before it is used")
	}
	for round := 1; round <= 5; round++ {
		for range 2 {
			p, err := c.Use(t.Context())
			if err != nil || p.number != round {
				t.Fatalf("round %d: process %v, error %v", round, p, err)
			}
		}
		c.Worked()
		p, _ := c.Current()
		p.end(errors.New("it ended"))
	}
}

func TestChild_GivesUp(t *testing.T) {
	t.Parallel()
	f := &factory{}
	c := supervise.New(supervise.Attempts{Max: 3}, f.start)
	p, err := c.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.end(errors.New("it ended"))
	f.fail = errors.New("not there")
	for range 5 { // the end and two starts are the three failures
		_, err = c.Use(t.Context())
	}
	gaveUp, ok := errors.AsType[*supervise.GaveUpError](err)
	if !ok || gaveUp.Failures != 3 || !errors.Is(err, f.fail) || f.starts != 3 {
		t.Errorf("after %d starts: %v", f.starts, err)
	}
}

func TestChild_CancelledStartIsNoFailure(t *testing.T) {
	t.Parallel()
	ready := errors.New("the caller left")
	c := supervise.New(supervise.Attempts{Max: 1}, func(ctx context.Context) (*process, error) {
		if ctx.Err() != nil {
			return nil, errors.New("cut short")
		}
		return &process{}, nil
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ready)
	for range 20 { // either way of the select
		if _, err := c.Use(ctx); !errors.Is(err, ready) {
			t.Fatal(err)
		}
	}
	if _, err := c.Use(t.Context()); err != nil {
		t.Errorf("it gave up: %v", err)
	}
}

func TestChild_Close(t *testing.T) {
	t.Parallel()
	f := &factory{}
	c := supervise.New(supervise.Attempts{}, f.start)
	p, err := c.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if p.closed == 0 {
		t.Error("the process runs on")
	}
	if _, err := c.Use(t.Context()); !errors.Is(err, supervise.ErrClosed) || f.starts != 1 {
		t.Errorf("after Close: %v", err)
	}
}

// A process that is there only after Close is closed, and of callers at the same time one starts.
func TestChild_CloseDuringStart(t *testing.T) {
	t.Parallel()
	late, starting, started := &process{}, make(chan struct{}), make(chan struct{})
	c := supervise.New(supervise.Attempts{}, func(context.Context) (*process, error) {
		close(starting)
		<-started
		return late, nil
	})
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() {
			if _, err := c.Use(t.Context()); !errors.Is(err, supervise.ErrClosed) {
				t.Error(err)
			}
		})
	}
	<-starting
	c.Close()
	close(started)
	users.Wait()
	if late.closed == 0 {
		t.Error("the process runs on")
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Error(err)
	}
}
