package observe

import (
	"maps"
	"slices"
)

// contribution is what one module said it publishes; serial tells it from a
// later one of the same module.
type contribution struct {
	serial uint64
	names  func() []string
}

// Contribute says that a module publishes events under further names, such as
// "my-tool:started" (the contribution point observability.events, R131). A
// second contribution of the same module replaces the first. names is called
// by [Bus.Names], possibly from several goroutines. remove takes the
// contribution back.
func (b *Bus) Contribute(module string, names func() []string) (remove func()) {
	if b == nil || names == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serial++
	serial := b.serial
	b.names[module] = contribution{serial: serial, names: names}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.names[module].serial == serial {
			delete(b.names, module)
		}
	}
}

// Names lists the contributed names, sorted, each once; the standard ones are
// not among them. A module whose function panics contributes nothing.
func (b *Bus) Names() []string {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	contributions := slices.Collect(maps.Values(b.names))
	b.mu.Unlock()

	var all []string
	for _, c := range contributions {
		all = append(all, ask(c)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

// ask runs the module's own code.
func ask(c contribution) (names []string) {
	defer func() {
		if recover() != nil {
			names = nil
		}
	}()
	return c.names()
}
