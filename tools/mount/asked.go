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
// session begins beside them.
const atOnce = 8

// asked is how far a Mounting has asked those modules that have to say themselves what
// they are.
type asked struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	start   time.Time // zero means not yet
	closed  bool
	working sync.WaitGroup
}

var errClosed = errors.New("the agent is shutting down")

func (a *asked) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel(errClosed)
	a.working.Wait()
}

// begin reports whether this is the first time.
func (a *asked) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || !a.start.IsZero() {
		return false
	}
	a.start = time.Now()
	return true
}

// running reports whether the asking has started.
func (a *asked) running() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.start.IsZero()
}

// Begin asks the modules and scripts that describe themselves what they are, in the
// background, several at once. Each is mounted when it has answered, for all
// sessions. A second Begin does nothing.
func (m *Mounting) Begin() {
	if !m.asked.begin() {
		return
	}
	places := make(chan struct{}, atOnce)
	for _, module := range m.late() {
		m.asked.working.Go(func() {
			defer close(module.done)
			places <- struct{}{}
			defer func() { <-places }()
			m.ask(module)
		})
	}
}

// ask asks one module what it is, and mounts it.
func (m *Mounting) ask(module *found) {
	ctx, cancel := context.WithTimeoutCause(m.asked.ctx, describeTime, errSlowDescribe)
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

// mountInOrder mounts a module that has answered. Of two that call themselves the same,
// the first of the plan has the name, whichever was faster. The caller holds mu.
func (m *Mounting) mountInOrder(module *found) error {
	if module.local.absent {
		return m.mount(m.asked.ctx, module)
	}
	id, err := module.local.id()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(m.modules, func(f *found) bool {
		return f.late && f.order > module.order && slices.ContainsFunc(m.coordinator.toolsAt(f.order), func(t tools.Tool) bool { return t.ID == id })
	})
	if at < 0 {
		return m.mount(m.asked.ctx, module)
	}
	other := m.modules[at]
	if err := m.coordinator.view(other).withdraw(); err != nil {
		return err
	}
	m.mounted = slices.DeleteFunc(m.mounted, func(name string) bool { return name == other.name })
	err = m.mount(m.asked.ctx, module)
	if failed := m.mount(m.asked.ctx, other); failed != nil {
		m.fail(other, failed)
	}
	return err
}

// Settle waits until each module that was asked has answered, or has failed, or until ctx
// ends; not for modules whose asking started before since. Begin comes before it.
func (m *Mounting) Settle(ctx context.Context, since time.Time) {
	m.asked.mu.Lock()
	start := m.asked.start
	m.asked.mu.Unlock()
	if start.IsZero() || start.Before(since) {
		return
	}
	for _, module := range m.late() {
		select {
		case <-module.done:
		case <-ctx.Done():
			return
		}
	}
}

// late are the modules that have to be asked.
func (m *Mounting) late() []*found {
	return slices.DeleteFunc(slices.Clone(m.modules), func(f *found) bool { return !f.late })
}

// Asks reports whether a module of the plan has to be asked, so that it is not known
// before what it calls its tool.
func (m *Mounting) Asks() bool {
	return slices.ContainsFunc(m.modules, func(f *found) bool { return f.late && !f.script })
}

// Asked are the tools of those modules and scripts that had to be asked, as far as they
// have answered. generation is another one when they have changed.
func (m *Mounting) Asked() (list []tools.Tool, generation int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, module := range m.late() {
		list = append(list, m.coordinator.toolsAt(module.order)...)
	}
	return list, m.generation
}
