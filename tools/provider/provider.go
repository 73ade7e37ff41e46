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

var (
	errSlowStart = fmt.Errorf("its tools were not there within %s", startTime)
	errTired     = fmt.Errorf("it has failed %d times", maxRestarts+1)
)

// provider is one of a Service.
type provider struct {
	Config
	service *Service
	// lock holds one: who reaches for the provider.
	lock    chan struct{}
	settled chan struct{} // closed once it was reached, or not

	mu      sync.Mutex
	link    link
	starts  int // since a call last succeeded
	listing json.RawMessage
	tools   []tools.Tool
	refused []error
	failed  error
	closed  bool
	asking  chan struct{} // closed when ask has its answer; nil while nothing is asked
	since   time.Time     // since when that is so
	// answered is when a program last said, asked again, which tools it has.
	answered time.Time
	stale    bool // the tools may be others than those last asked for
}

// begin reaches for the provider for the first time.
func (p *provider) begin(ctx context.Context) {
	defer close(p.settled)
	_, _ = p.reach(ctx) // the failure is among the problems
}

// tried reports whether the provider has been reached, or has failed once.
func (p *provider) tried() bool {
	select {
	case <-p.settled:
		return true
	default:
		return false
	}
}

// usable is the link that is there, or nil.
func (p *provider) usable() link {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil || p.link.err() != nil {
		return nil
	}
	return p.link
}

// reach returns the link to the provider, which is made when there is none.
func (p *provider) reach(ctx context.Context) (link, error) {
	select {
	case p.lock <- struct{}{}:
		defer func() { <-p.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l := p.usable(); l != nil {
		return l, nil
	}
	p.mu.Lock()
	if p.Type == Stdio && p.starts > maxRestarts {
		defer p.mu.Unlock()
		return nil, p.giveUp()
	}
	p.starts++
	p.mu.Unlock()
	l, err := p.connect(ctx)
	switch {
	case err != nil && ctx.Err() != nil: // whoever wanted it does no more
		p.mu.Lock()
		p.starts--
		p.mu.Unlock()
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, p.fail(err)
	}
	return l, nil
}

// giveUp says why a program is not started again, always in the same words: what is wrong
// is said once. The caller holds mu.
func (p *provider) giveUp() error {
	if errors.Is(p.failed, errTired) {
		return p.failed
	}
	if p.failed == nil { // it has worked, and ended since
		p.failed = p.link.err()
	}
	p.failed = fmt.Errorf("%w: %w", errTired, p.failed)
	p.service.o.Logger.Warn("tool provider", "name", p.Name, "error", p.failed.Error())
	return p.failed
}

// fail notes why the provider cannot be used.
func (p *provider) fail(err error) error {
	p.service.o.Logger.Warn("tool provider", "name", p.Name, "error", err.Error())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
	return err
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
	_, err = l.call(ctx, "initialize", map[string]any{
		"protocolVersion": protocolVersion, "clientInfo": map[string]string{"name": clientName, "version": p.service.o.Version},
	})
	if err == nil {
		err = p.list(ctx, l)
	}
	if err == nil {
		err = p.keep(l)
	}
	if err != nil {
		l.close()
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
	return newLines(stream, p.notified), nil
}

// keep puts a link in force, unless the service is closed.
func (p *provider) keep(l link) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	old := p.link
	p.link, p.failed = l, nil
	p.mu.Unlock()
	if old != nil {
		old.close()
	}
	return nil
}

// list learns the tools.
func (p *provider) list(ctx context.Context, l link) error {
	answer, err := l.call(ctx, "tools/list", struct{}{})
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
	answer, err := l.call(ctx, "tools/execute", params)
	var answered *rpcError
	switch {
	case err == nil, errors.As(err, &answered):
		p.mu.Lock()
		p.starts = 1 // it works
		p.mu.Unlock()
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

// dispose ends the provider and waits for its program.
func (p *provider) dispose() {
	p.mu.Lock()
	p.closed = true
	l := p.link
	p.mu.Unlock()
	if l != nil {
		l.close()
	}
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
