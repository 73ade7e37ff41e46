package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/peer"
	"acp-agent/internal/supervise"
	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	// protocolVersion and clientName are what a provider is told of us.
	protocolVersion = "1.0"
	clientName      = "acp-agent"
	// startTime bounds the start of a provider, until its tools are known (M2).
	startTime = 30 * time.Second
	// maxRestarts is how often a program is started again (M2).
	maxRestarts = 3
)

var errSlowStart = fmt.Errorf("its tools were not there within %s", startTime)

// provider is one of a Service.
type provider struct {
	Config
	service   *Service
	child     *supervise.Child[link]
	triedOnce chan struct{} // closed when the first attempt has succeeded or failed

	mu      sync.Mutex
	listing json.RawMessage
	tools   []tools.Tool
	refused []error
	failed  error
	asking  chan struct{} // closed when ask has its answer; nil while nothing is asked
	since   time.Time     // since when that is so
	// answered is when a program last said, asked again, which tools it has.
	answered time.Time
	stale    bool // the tools may be others than those last asked for
}

// newProvider returns a provider; it starts nothing.
func newProvider(c Config, s *Service) *provider {
	p := &provider{Config: c, service: s, triedOnce: make(chan struct{})}
	attempts := supervise.Attempts{}
	if c.Type == Stdio {
		attempts.Max = maxRestarts + 1
	}
	p.child = supervise.New(attempts, p.connect)
	return p
}

// firstReach tries to reach the provider for the first time.
func (p *provider) firstReach(ctx context.Context) {
	defer close(p.triedOnce)
	_, _ = p.reach(ctx) // the failure is among the problems
}

// tried reports whether the provider has been reached, or has failed once.
func (p *provider) tried() bool {
	select {
	case <-p.triedOnce:
		return true
	default:
		return false
	}
}

// usable is the link that works, or nil.
func (p *provider) usable() link {
	l, started := p.child.Current()
	if !started || l.Err() != nil {
		return nil
	}
	return l
}

// reach returns the link to the provider, which is made when there is none.
func (p *provider) reach(ctx context.Context) (link, error) {
	l, err := p.child.Use(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, supervise.ErrClosed) {
		p.fail(err)
	}
	return l, err
}

// fail notes why the provider cannot be used. That it gave up restarting is logged once.
func (p *provider) fail(err error) {
	p.mu.Lock()
	known := p.failed
	p.failed = err
	p.mu.Unlock()
	_, before := errors.AsType[*supervise.GaveUpError](known)
	_, now := errors.AsType[*supervise.GaveUpError](err)
	if !before || !now {
		p.service.o.Logger.Warn("tool provider", "name", p.Name, "error", err.Error())
	}
}

// connect makes a link, and learns the tools.
func (p *provider) connect(ctx context.Context) (l link, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errSlowStart)
	defer cancel()
	unbind := context.AfterFunc(p.service.ctx, cancel)
	defer unbind()
	stderr := textcut.NewTail(maxStderr)
	if l, err = p.dial(ctx, stderr); err != nil {
		return nil, err
	}
	_, err = call(ctx, l, "initialize", map[string]any{
		"protocolVersion": protocolVersion, "clientInfo": map[string]string{"name": clientName, "version": p.service.o.Version},
	})
	if err == nil {
		err = p.list(ctx, l)
	}
	if err != nil {
		l.Close()
		return nil, withStderr(err, stderr)
	}
	return l, nil
}

func (p *provider) dial(ctx context.Context, stderr *textcut.Tail) (link, error) {
	if p.Type == HTTP {
		return newRemote(p.Config), nil
	}
	if p.service.o.Start == nil {
		return nil, errors.New("programs cannot be started here")
	}
	stream, err := p.service.o.Start(ctx, p.Config, stderr)
	if err != nil {
		return nil, err
	}
	return peer.New(stream, peer.Options{Notified: func(method string, _ json.RawMessage) { p.notified(method) }}), nil
}

// list learns the tools.
func (p *provider) list(ctx context.Context, l link) error {
	answer, err := call(ctx, l, "tools/list", struct{}{})
	if err != nil {
		return err
	}
	p.mu.Lock()
	same := p.listing != nil && bytes.Equal(p.listing, answer)
	if same {
		p.failed = nil
	}
	p.mu.Unlock()
	if same {
		return nil
	}
	list, refused, err := p.read(answer)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.listing, p.tools, p.refused, p.failed = answer, list, refused, nil
	p.mu.Unlock()
	p.service.changed()
	return nil
}

// execute calls a tool. A provider that is away is started again.
func (p *provider) execute(ctx context.Context, params any) (json.RawMessage, error) {
	l, err := p.reach(ctx)
	if err != nil {
		return nil, p.failure(ctx, "is unavailable", err)
	}
	answer, err := call(ctx, l, "tools/execute", params)
	var answered *peer.Error
	switch {
	case err == nil, errors.As(err, &answered):
		p.child.Worked()
		if answered != nil {
			return nil, &tools.Error{Kind: tools.Backend, Message: answered.Error(), Err: answered}
		}
		return answer, nil
	default:
		return nil, p.failure(ctx, "failed", err)
	}
}

// failure is the error of a call that the provider did not answer.
func (p *provider) failure(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &tools.Error{
		Kind: tools.Unavailable, Message: fmt.Sprintf("tool provider %s %s: %s", p.Name, what, kinds.Line(err.Error(), maxProblem)), Err: err,
	}
}

func (p *provider) problems() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []error
	if p.failed != nil {
		list = append(list, problem(p.Name, p.failed))
	}
	for _, err := range p.refused {
		list = append(list, problem(p.Name, err))
	}
	return list
}

// maxStderr is how much of the end of a program's standard error is kept, in bytes.
const maxStderr = 500

// withStderr adds the end of a program's standard error to a failure.
func withStderr(err error, stderr *textcut.Tail) error {
	if text := strings.TrimSpace(stderr.String()); text != "" {
		return fmt.Errorf("%w; stderr: %s", err, kinds.Line(text, maxProblem))
	}
	return err
}
