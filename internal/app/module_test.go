package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"

	"acp-agent/config"
	"acp-agent/internal/testkit/acptest"
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

// A tool returns 100 MB at once (R106): the agent takes little more than
// that, and neither the model nor the editor is sent it.
func TestTool_HugeResult(t *testing.T) {
	const size = 100 << 20
	agent := acptest.Start(t, acptest.Options{
		Env: []string{envForeignTools + "=1"},
		Model: `{"call": [{"name": "tool_search", "args": {"query": "huge"}}]}
{"call": [{"name": "huge"}]}
{"expect": {"last_result": "[Tool result truncated: 102400KB exceeds limit."}, "say": "Cut."}
`,
		Permission: func(p *acptest.Permission) { p.Choose("allow_once") },
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("/status").Ends("end_turn")
	idle := agent.Peak()
	session.Prompt("all of it").Ends("end_turn")
	if grown := agent.Peak() - idle; grown > int64(acptest.Slack(2*size)) {
		t.Errorf("the agent grew by %d MiB", grown>>20)
	}
	t.Logf("idle %d MiB, at its peak %d MiB", idle>>20, agent.Peak()>>20)
	for _, line := range agent.Lines() {
		if len(line.Raw) > 256<<10 {
			t.Errorf("a line of %d bytes went over the wire", len(line.Raw))
		}
	}
}
