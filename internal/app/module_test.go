package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"acp-agent/config"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
)

// R8: what a module wants cleaned up is cleaned up when the program ends, the
// last mounted first, whatever another module's cleanup does. R131: the events
// that modules contribute are known by then.
func TestCore_CloseCleansUpModules(t *testing.T) {
	core := newCore(io.Discard)
	core.stateDir, core.sources = t.TempDir(), config.Sources{}
	core.Warm()
	var cleaned []string
	for _, name := range []string{"first", "failing", "last"} {
		module := func(_ context.Context, c *mount.Coordinator, _ json.RawMessage) (mount.Mounted, error) {
			c.RegisterContributor(mount.EventsChannel, name, func() []string { return []string{name + ":started"} })
			return mount.Mounted{Cleanup: func() error {
				cleaned = append(cleaned, name)
				if name == "failing" {
					return errors.New("it will not go")
				}
				return nil
			}}, nil
		}
		if err := core.set.mounting.Mount(t.Context(), name, module, nil); err != nil {
			t.Fatal(err)
		}
	}
	if names := core.host.Bus.Names(); !slices.Contains(names, "last:started") {
		t.Errorf("the events known are %v, want last:started among them", names)
	}
	core.Close()
	core.Close()
	if want := []string{"last", "failing", "first"}; !slices.Equal(cleaned, want) {
		t.Errorf("cleaned up %v, want %v", cleaned, want)
	}
}

// A set of tools that cannot be registered leaves nothing behind.
func TestToolset_RegisterFails(t *testing.T) {
	web, err := newWeb(config.Default(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	set := &toolset{web: web, mounting: mount.New()}
	cleaned := 0
	module := func(context.Context, *mount.Coordinator, json.RawMessage) (mount.Mounted, error) {
		return mount.Mounted{Cleanup: func() error { cleaned++; return nil }}, nil
	}
	if err := set.mounting.Mount(t.Context(), "held", module, nil); err != nil {
		t.Fatal(err)
	}
	twice := builtin.All()[:1]
	if err := set.register(append(twice, twice...)); err == nil || cleaned != 1 {
		t.Errorf("register returned %v and cleaned up %d times", err, cleaned)
	}
}
