package mount

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

// EventsChannel is the channel on which modules contribute the names of the
// events that they emit (R131).
const EventsChannel = "observability.events"

// Coordinator is what a module's mount function is handed (R8). Each module has
// its own view of one shared state, so that what a module that fails has done
// can be taken back. It is safe for concurrent use, and needs nothing else: a
// test of a module uses one from NewCoordinator.
type Coordinator struct {
	module string
	// builtin modules are tools of the agent's own and may have the names in taken.
	builtin bool
	// order is the module's place in the plan.
	order  int
	shared *shared
}

// shared is the state of all views.
type shared struct {
	taken []string

	mu           sync.Mutex
	tools        []mountedTool
	contributors []contributor
	cleanups     []cleanup
	closed       time.Time // zero while it is not
}

type mountedTool struct {
	tools.Tool
	names  []string // its id and aliases
	module string
	order  int
}

type contributor struct {
	channel, module, owner string
	names                  func() []string
}

type cleanup struct {
	module string
	run    func() error
}

// NewCoordinator returns a Coordinator as a module of this name sees it. taken
// are names and aliases that no module may use.
func NewCoordinator(module string, taken ...string) *Coordinator {
	return &Coordinator{module: module, shared: &shared{taken: taken}}
}

// view is the Coordinator of another module.
func (c *Coordinator) view(f *candidate) *Coordinator {
	return &Coordinator{module: f.name, builtin: f.builtin, order: f.order, shared: c.shared}
}

// Mount adds a tool. It refuses a tool that no registry would take, and one
// whose id or alias is taken. To mount a tool and also return it is to mount it
// once.
func (c *Coordinator) Mount(tool tools.Tool) error {
	if _, err := tools.NewRegistry(tool); err != nil {
		return err
	}
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	if !c.shared.closed.IsZero() {
		return fmt.Errorf("mount tool %q: the agent is shutting down", tool.ID)
	}
	names := toolNames(tool)
	for _, name := range names {
		if !c.builtin {
			if why := reserved(name, tool.Source.Kind, c.shared.taken); why != "" {
				return fmt.Errorf("mount tool %q: %s", tool.ID, why)
			}
		}
		for _, have := range c.shared.tools {
			if slices.Contains(have.names, name) {
				return fmt.Errorf("mount tool %q: module %s has mounted a tool named %q already", tool.ID, have.module, name)
			}
		}
	}
	c.shared.tools = append(c.shared.tools, mountedTool{Tool: tool, names: names, module: c.module, order: c.order})
	slices.SortStableFunc(c.shared.tools, func(a, b mountedTool) int { return a.order - b.order })
	return nil
}

func toolNames(tool tools.Tool) []string {
	names := []string{tool.ID}
	for _, a := range tool.Aliases {
		names = append(names, a.Name)
	}
	return names
}

// mounted reports whether this module has mounted a tool of this id.
func (c *Coordinator) mounted(id string) bool {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	return slices.ContainsFunc(c.shared.tools, func(t mountedTool) bool { return t.ID == id && t.module == c.module })
}

// RegisterContributor adds names to a channel, such as EventsChannel, under the
// name of a module. f is called each time the names are read.
func (c *Coordinator) RegisterContributor(channel, module string, f func() []string) {
	if f == nil {
		return
	}
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	c.shared.contributors = append(c.shared.contributors, contributor{channel: channel, module: module, owner: c.module, names: f})
}

// Contributions are the names on a channel, each once, in the order in which
// they were contributed. A contributor that panics contributes nothing.
func (c *Coordinator) Contributions(channel string) []string {
	return c.contributions(channel, func(contributor) bool { return true })
}

func (c *Coordinator) contributions(channel string, of func(contributor) bool) []string {
	c.shared.mu.Lock()
	all := slices.Clone(c.shared.contributors)
	c.shared.mu.Unlock()
	var names []string
	for _, from := range all {
		if from.channel != channel || !of(from) {
			continue
		}
		for _, name := range guardedNames(from.names) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func guardedNames(f func() []string) (names []string) {
	defer func() {
		if recover() != nil {
			names = nil
		}
	}()
	return f()
}

// OnCleanup adds a function that runs once, at shutdown or when the module's
// mount fails. The last one added runs first.
func (c *Coordinator) OnCleanup(f func() error) {
	if f == nil {
		return
	}
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	c.shared.cleanups = append(c.shared.cleanups, cleanup{module: c.module, run: f})
}

// Tools are the mounted tools of all modules in the order of the plan.
func (c *Coordinator) Tools() []tools.Tool {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	list := make([]tools.Tool, 0, len(c.shared.tools))
	for _, t := range c.shared.tools {
		list = append(list, t.Tool)
	}
	return list
}

// toolsAt are the mounted tools of the module in one place of the plan.
func (c *Coordinator) toolsAt(order int) []tools.Tool {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	var list []tools.Tool
	for _, t := range c.shared.tools {
		if t.order == order {
			list = append(list, t.Tool)
		}
	}
	return list
}

// Close runs the cleanups of all modules, last first, each once whatever the
// others do. It returns what went wrong, panics included. Later calls do
// nothing.
func (c *Coordinator) Close() error {
	c.shared.mu.Lock()
	if c.shared.closed.IsZero() {
		c.shared.closed = time.Now()
	}
	left := c.shared.cleanups
	c.shared.cleanups = nil
	c.shared.mu.Unlock()
	return runCleanups(left)
}

// cleanupDeadline is when all cleanups have to be over.
func (c *Coordinator) cleanupDeadline() time.Time {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	return c.shared.closed.Add(cleanupTime)
}

// withdraw takes back all that this module did.
func (c *Coordinator) withdraw() error {
	c.shared.mu.Lock()
	var mine []cleanup
	c.shared.cleanups = slices.DeleteFunc(c.shared.cleanups, func(f cleanup) bool {
		if f.module == c.module {
			mine = append(mine, f)
		}
		return f.module == c.module
	})
	c.shared.tools = slices.DeleteFunc(c.shared.tools, func(t mountedTool) bool { return t.module == c.module })
	c.shared.contributors = slices.DeleteFunc(c.shared.contributors, func(f contributor) bool { return f.owner == c.module })
	c.shared.mu.Unlock()
	return runCleanups(mine)
}

func runCleanups(list []cleanup) error {
	var errs []error
	for _, f := range slices.Backward(list) {
		if err := guardedCleanup(f.run); err != nil {
			errs = append(errs, fmt.Errorf("clean up module %q: %w", f.module, err))
		}
	}
	return errors.Join(errs...)
}

func guardedCleanup(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
