package mount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

// Module is a module's mount function (R8). It returns a tool, a cleanup
// function, both, or neither: a module that finds no use for itself mounts
// nothing, and the agent runs without it. config is a JSON object or nil. An
// error, and a panic, take back whatever it did with the Coordinator.
type Module func(ctx context.Context, c *Coordinator, config json.RawMessage) (Mounted, error)

// Mounted is what a module returns. The zero value is nothing.
type Mounted struct {
	Tool    *tools.Tool
	Cleanup func() error
}

// Options say where modules come from.
type Options struct {
	// Builtin are the modules with source "builtin", by module name.
	Builtin map[string]Module
	// Taken are the ids and aliases of tools that exist already; with the locked
	// ids, no module from outside may use them.
	Taken []string
	// Dir is where relative sources begin, absolute: the plan's directory. Home
	// is what "~" means in them.
	Dir, Home string
	// Describe runs a local module's executable once outside of calls, to ask it what it
	// is, and to have it clean up, without the user's environment. nil means that
	// modules that need it are refused. It is called from several goroutines.
	Describe func(ctx context.Context, call Describing) (stdout []byte, err error)
	// Toolbox are scripts that are mounted after the plan (R93).
	Toolbox Toolbox
	// Failed gets each module that fails when it is asked what it is, on a goroutine of
	// its own; nil means that no one does. It must not call the Mounting.
	Failed func(Failure)
}

// Describing is one run of an executable outside of calls. It writes nothing.
type Describing struct {
	// Args begin with the absolute path of the executable.
	Args []string
	// Dir is the directory of the module or toolbox.
	Dir string
	// Env is all of its environment beside the short allow-list of X1.
	Env []string
	// Network opens the network to it, which describe never has.
	Network bool
}

// Mounting is a plan that was run, see New. It is safe for concurrent use.
//
// Goroutines: from StartAsking, one for each module that is asked what it is; Close ends them
// and waits for them.
type Mounting struct {
	coordinator *Coordinator
	o           Options
	// modules are those of the plan, then the scripts of the toolbox.
	modules []*candidate
	asking  asking

	mu       sync.Mutex // guards what follows, and the results of modules
	failures []Failure
	mounted  []string
	// generation counts the answers of modules that were asked.
	generation int
}

// New returns a Mounting without modules. taken are the names of Options.Taken.
func New(taken ...string) *Mounting { return open(Options{Taken: taken}) }

func open(o Options) *Mounting {
	m := &Mounting{coordinator: NewCoordinator("", o.Taken...), o: o}
	m.asking.ctx, m.asking.cancel = context.WithCancelCause(context.Background())
	return m
}

// Open mounts the modules of a plan that are described in files, in
// order. The others, and the scripts of the toolbox, follow after StartAsking.
// What goes wrong with one is recorded as its failure, and the others go on (R8).
func Open(ctx context.Context, plan Plan, o Options) *Mounting {
	m := open(o)
	for _, entry := range plan {
		module := o.find(entry)
		module.name, module.at, module.config = entry.Module, entry.At, entry.Config
		m.modules = append(m.modules, &module)
	}
	for _, script := range o.Toolbox.find() {
		if script.local != nil {
			script.local.o = o
		}
		m.modules = append(m.modules, &script)
	}
	for i, module := range m.modules {
		module.order = i
		m.read(module)
		if !module.mustAsk {
			m.enter(ctx, module)
		}
	}
	return m
}

// Run is Open, StartAsking and Settle: all modules of the plan and all scripts are mounted, or
// have failed, when it returns.
func Run(ctx context.Context, plan Plan, o Options) *Mounting {
	m := Open(ctx, plan, o)
	unbind := context.AfterFunc(ctx, func() { m.asking.cancel(context.Cause(ctx)) })
	defer unbind()
	m.StartAsking()
	m.Settle(context.Background(), time.Time{}) // pending questions end with ctx
	return m
}

// read reads what files say of a module, and finds out whether its executable must be asked.
func (m *Mounting) read(module *candidate) {
	if module.err != nil || module.local == nil {
		return
	}
	if module.err = module.local.read(); module.err != nil {
		return
	}
	if module.mustAsk = module.local.manifest.needsDescribe(); !module.mustAsk {
		module.err = module.local.ready()
		return
	}
	for _, other := range m.modules[:module.order] {
		if other.mustAsk && other.name == module.name {
			module.mustAsk, module.err = false, errMountedTwice
			return
		}
	}
	module.done = make(chan struct{})
}

// enter mounts a module that was read, or records why it is not.
func (m *Mounting) enter(ctx context.Context, module *candidate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := module.err
	if err == nil {
		err = m.mount(ctx, module)
	}
	if err != nil {
		m.fail(module, err)
	}
}

// fail records a failure, in the order of the plan. The caller holds mu.
func (m *Mounting) fail(module *candidate, err error) {
	failure := Failure{Module: module.name, Script: module.script, At: module.at, Err: err, order: module.order}
	m.failures = append(m.failures, failure)
	slices.SortStableFunc(m.failures, func(a, b Failure) int { return a.order - b.order })
	if module.mustAsk && m.o.Failed != nil && !errors.Is(err, errClosed) {
		m.o.Failed(failure)
	}
}

// Mount mounts one more module, from outside. The error is that of the module,
// which then leaves nothing mounted.
func (m *Mounting) Mount(ctx context.Context, name string, module Module, config json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	more := &candidate{name: name, module: module, config: config, order: len(m.modules)}
	err := errModuleName
	if moduleName(name) {
		err = m.mount(ctx, more)
	}
	if err != nil {
		m.fail(more, err)
	}
	return err
}

var errMountedTwice = errors.New("a module of this name is mounted already")

var errModuleName = fmt.Errorf("module names are lower-case letters, digits, _ and -, at most %d", maxName)

// mount runs a module's mount function. The caller holds mu.
func (m *Mounting) mount(ctx context.Context, f *candidate) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case slices.Contains(m.mounted, f.name):
		return errMountedTwice
	}
	if err := m.coordinator.view(f).runMount(ctx, f.module, f.config); err != nil {
		return err
	}
	m.mounted = append(m.mounted, f.name)
	return nil
}

// runMount runs a module's mount function and mounts what it returns.
func (c *Coordinator) runMount(ctx context.Context, module Module, config json.RawMessage) error {
	result, err := guardedMount(ctx, module, c, config)
	c.OnCleanup(result.Cleanup)
	if err == nil && result.Tool != nil && !c.mounted(result.Tool.ID) {
		err = c.Mount(*result.Tool)
	}
	if err != nil {
		return errors.Join(err, c.withdraw())
	}
	return nil
}

func guardedMount(ctx context.Context, module Module, c *Coordinator, config json.RawMessage) (result Mounted, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("mount panicked: %v", p)
		}
	}()
	return module(ctx, c, config)
}

// Tools are the mounted tools in the order of the plan.
func (m *Mounting) Tools() []tools.Tool { return m.coordinator.Tools() }

// Failures are the modules that were not mounted, in the order of the plan.
func (m *Mounting) Failures() []Failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.failures)
}

// Contributions are the names that modules contributed to a channel.
func (m *Mounting) Contributions(channel string) []string {
	return m.coordinator.Contributions(channel)
}

// Close ends the asking of modules and waits for it, and runs the cleanups of all modules,
// the last one mounted first, once.
func (m *Mounting) Close() error {
	m.asking.close()
	return m.coordinator.Close()
}
