package mcp

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/tools"
)

// clock ends a call that goes without progress for too long. It stands still while the
// user is asked something.
type clock struct {
	limit time.Duration

	mu    sync.Mutex
	timer *time.Timer
	held  int // how many hold it
	over  bool
}

func startClock(limit time.Duration, late func()) *clock {
	return &clock{limit: limit, timer: time.AfterFunc(limit, late)}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// restart gives the call its whole time again.
func (c *clock) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run()
}

// run lets the clock run its whole time, unless a question holds it; mu is held.
func (c *clock) run() {
	if c.held == 0 && !c.over {
		c.timer.Reset(c.limit)
	}
}

// hold lets the clock stand still until free.
func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	c.timer.Stop()
}

func (c *clock) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held--
	c.run()
}

// running is a request under way.
type running struct {
	clock   *clock
	runtime tools.Runtime // of the tool call that it is for; nil when there is none
}

// calls are those under way over one connection. The zero value is ready.
type calls struct {
	mu   sync.Mutex
	last int
	now  map[string]*running
	none chan struct{} // closed when the last one has ended; nil while there is none
}

// begin gives a call its token; nothing is told of it after over.
func (c *calls) begin(r *running) (token string, over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now = map[string]*running{}
	}
	if len(c.now) == 0 {
		c.none = make(chan struct{})
	}
	c.last++
	token = strconv.Itoa(c.last)
	c.now[token] = r
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.now, token)
		if len(c.now) == 0 {
			close(c.none)
		}
	}
}

// progress passes on what a server tells of a call; of others it tells nothing.
func (c *calls) progress(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.now[token]; r != nil {
		r.clock.restart()
		if r.runtime != nil {
			r.runtime.Progress([]byte(progressLine(p)))
		}
	}
}

// keepAlive is how often the pipeline's time limit of a call is restarted while the user is asked.
const keepAlive = time.Second

// wait stops the time limits of all calls, those of the server, of the pipeline and of a subagent,
// because a server does not say which call its question is about. id is the id of the call
// when there is only one. ctx ends with the last call. ok is false when no call runs;
// otherwise the caller calls over when the wait is over.
func (c *calls) wait(ctx context.Context) (_ context.Context, id string, over func(), ok bool) {
	c.mu.Lock()
	none := c.none
	var list []*running
	for _, r := range c.now {
		if r.runtime != nil {
			list = append(list, r)
		}
	}
	c.mu.Unlock()
	if len(list) == 0 {
		return ctx, "", nil, false
	}
	if len(list) == 1 {
		id = list[0].runtime.CallID()
	}
	ctx, cancel := context.WithCancel(ctx)
	var overs []func()
	for _, r := range list {
		r.clock.hold()
		overs = append(overs, r.clock.free)
		if await := r.runtime.Services().AwaitUser; await != nil {
			overs = append(overs, await(ctx))
		}
	}
	var keeping sync.WaitGroup
	keeping.Go(func() { // ends with over
		if keepRunning(ctx, list, none) {
			cancel()
		}
	})
	return ctx, id, func() {
		cancel()
		keeping.Wait()
		for _, over := range overs {
			over()
		}
	}, true
}

// Pause stops the clocks of a server by its id while the user is asked something for its program: that
// of its start, and those of the calls that run. resume starts them again.
func (m *Manager) Pause(ctx context.Context, id string) (resume func()) {
	m.mu.Lock()
	at := slices.IndexFunc(m.links, func(l *link) bool { return l.id == id && !l.taken() })
	if at < 0 {
		m.mu.Unlock()
		return func() {}
	}
	l := m.links[at]
	m.mu.Unlock()
	return l.pause(ctx)
}

func (l *link) pause(ctx context.Context) (resume func()) {
	l.mu.Lock()
	starting, c := l.starting, l.live
	l.mu.Unlock()
	var resumes []func()
	if starting != nil {
		starting.hold()
		resumes = append(resumes, starting.free)
	}
	if c != nil {
		if _, _, over, ok := c.calls.wait(ctx); ok {
			resumes = append(resumes, over)
		}
	}
	return func() {
		for _, resume := range resumes {
			resume()
		}
	}
}

// keepRunning restarts the pipeline's time limits of calls until ctx ends. It returns earlier, with
// true, when none is closed: the last call has ended.
func keepRunning(ctx context.Context, list []*running, none <-chan struct{}) (ended bool) {
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-none:
			return true
		case <-ticker.C:
			for _, r := range list {
				r.runtime.Progress(nil)
			}
		}
	}
}
