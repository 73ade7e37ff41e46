package mount

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

// atOnce is how many executables describe themselves at once: there may be dozens, and a
// session starts at the same time.
const atOnce = 8

// asking is the state of asking the modules that describe themselves.
type asking struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	start   time.Time // zero means not yet
	closed  bool
	working sync.WaitGroup
}

var errClosed = errors.New("the agent is shutting down")

func (a *asking) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel(errClosed)
	a.working.Wait()
}

// first reports whether this is the first time, and notes the time.
func (a *asking) first() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || !a.start.IsZero() {
		return false
	}
	a.start = time.Now()
	return true
}

// running reports whether the asking has started.
func (a *asking) running() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.start.IsZero()
}

// StartAsking asks the modules and scripts that describe themselves what they are, in the
// background, several at once. Each is mounted when it has answered, for all
// sessions. A second StartAsking does nothing.
func (m *Mounting) StartAsking() {
	if !m.asking.first() {
		return
	}
	slots := make(chan struct{}, atOnce)
	for _, module := range m.toAsk() {
		m.asking.working.Go(func() {
			defer close(module.done)
			slots <- struct{}{}
			defer func() { <-slots }()
			m.ask(module)
		})
	}
}

// ask asks one module what it is, and mounts it.
func (m *Mounting) ask(module *candidate) {
	ctx, cancel := context.WithTimeoutCause(m.asking.ctx, describeTime, errSlowDescribe)
	defer cancel()
	err := module.local.ask(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation++
	if err == nil {
		err = m.mountInOrder(module)
	}
	if err != nil {
		m.fail(module, err)
	}
}

// mountInOrder mounts a module that has answered. When two modules give the same name, the
// first of the plan has it, whichever answered first. The caller holds mu.
func (m *Mounting) mountInOrder(module *candidate) error {
	if module.local.absent {
		return m.mount(m.asking.ctx, module)
	}
	id, err := module.local.id()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(m.modules, func(f *candidate) bool {
		return f.mustAsk && f.order > module.order && slices.ContainsFunc(m.coordinator.toolsAt(f.order), func(t tools.Tool) bool { return t.ID == id })
	})
	if at < 0 {
		return m.mount(m.asking.ctx, module)
	}
	other := m.modules[at]
	if err := m.coordinator.view(other).withdraw(); err != nil {
		return err
	}
	m.mounted = slices.DeleteFunc(m.mounted, func(name string) bool { return name == other.name })
	err = m.mount(m.asking.ctx, module)
	if failed := m.mount(m.asking.ctx, other); failed != nil {
		m.fail(other, failed)
	}
	return err
}

// Settle waits until each module that was asked has answered, or has failed, or until ctx
// ends. It does not wait when the asking started before since. Call it after StartAsking.
func (m *Mounting) Settle(ctx context.Context, since time.Time) {
	m.asking.mu.Lock()
	start := m.asking.start
	m.asking.mu.Unlock()
	if start.IsZero() || start.Before(since) {
		return
	}
	for _, module := range m.toAsk() {
		select {
		case <-module.done:
		case <-ctx.Done():
			return
		}
	}
}

// toAsk are the modules that have to be asked.
func (m *Mounting) toAsk() []*candidate {
	return slices.DeleteFunc(slices.Clone(m.modules), func(f *candidate) bool { return !f.mustAsk })
}

// NeedsAsking reports whether a module of the plan has to be asked, so that the name of its tool
// is not known before.
func (m *Mounting) NeedsAsking() bool {
	return slices.ContainsFunc(m.modules, func(f *candidate) bool { return f.mustAsk && !f.script })
}

// Answered returns the tools of the modules and scripts that have answered when they were asked.
// generation differs when they have changed.
func (m *Mounting) Answered() (list []tools.Tool, generation int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, module := range m.toAsk() {
		list = append(list, m.coordinator.toolsAt(module.order)...)
	}
	return list, m.generation
}
