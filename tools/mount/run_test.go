package mount_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

func mock(id string) *tools.Tool {
	tool := tooltest.NewMock(id, "output").Tool
	return &tool
}

// returns is a module that does nothing but return.
func returns(mounted mount.Mounted) mount.Module {
	return func(context.Context, *mount.Coordinator, json.RawMessage) (mount.Mounted, error) { return mounted, nil }
}

func ids(list []tools.Tool) []string {
	var out []string
	for _, tool := range list {
		out = append(out, tool.ID)
	}
	return out
}

func failures(m *mount.Mounting) map[string]string {
	out := map[string]string{}
	for _, f := range m.Failures() {
		out[f.Module] = f.Err.Error()
	}
	return out
}

// R8, trap 62: a tool, a cleanup function, nothing; what fails is its module's.
func TestRun(t *testing.T) {
	t.Parallel()
	var log []string
	note := func(what string) func() error {
		return func() error {
			log = append(log, what)
			return nil
		}
	}
	o := mount.Options{Builtin: map[string]mount.Module{
		"tool":    returns(mount.Mounted{Tool: mock("a_tool"), Cleanup: note("tool")}),
		"cleanup": returns(mount.Mounted{Cleanup: note("cleanup")}),
		"nothing": returns(mount.Mounted{}),
		"fails": func(_ context.Context, c *mount.Coordinator, _ json.RawMessage) (mount.Mounted, error) {
			c.OnCleanup(note("fails"))
			c.RegisterContributor(mount.EventsChannel, "fails", func() []string { return []string{"fails:x"} })
			return mount.Mounted{}, errors.Join(c.Mount(*mock("half")), errors.New("no database"))
		},
		"panics":    func(context.Context, *mount.Coordinator, json.RawMessage) (mount.Mounted, error) { panic("boom") },
		"duplicate": returns(mount.Mounted{Tool: mock("a_tool"), Cleanup: note("duplicate")}),
		"twice": func(_ context.Context, c *mount.Coordinator, config json.RawMessage) (mount.Mounted, error) {
			log = append(log, string(config))
			tool := mock("twice")
			return mount.Mounted{Tool: tool}, c.Mount(*tool) // as the seed's example does
		},
		"events": func(_ context.Context, c *mount.Coordinator, _ json.RawMessage) (mount.Mounted, error) {
			c.OnCleanup(func() error { panic("cleanup") })
			c.RegisterContributor(mount.EventsChannel, "events", func() []string { return []string{"events:started", "events:error"} })
			c.RegisterContributor(mount.EventsChannel, "events", func() []string { panic("no names") })
			c.RegisterContributor("other", "events", func() []string { return []string{"x"} })
			return mount.Mounted{}, nil
		},
		"unsound": returns(mount.Mounted{Tool: &tools.Tool{Spec: tools.Spec{ID: "Bad"}}}),
	}}
	plan := mount.Plan{
		{Module: "tool"},
		{Module: "cleanup", Source: "builtin"},
		{Module: "nothing"},
		{Module: "fails", At: "plan:9:1"},
		{Module: "panics"},
		{Module: "duplicate"},
		{Module: "twice", Config: json.RawMessage(`{"max_size":1}`)},
		{Module: "events"},
		{Module: "unsound"},
		{Module: "missing"},
		{Module: "far", Source: "git+https://example.com/org/my-tool@main"},
	}
	m := mount.Run(t.Context(), plan, o)
	if diff := cmp.Diff([]string{"a_tool", "twice"}, ids(m.Tools())); diff != "" {
		t.Errorf("tools (-want +got)\n%s", diff)
	}
	got := failures(m)
	for module, want := range map[string]string{
		"fails": "no database", "panics": "boom", "duplicate": `module tool has mounted a tool named "a_tool" already`, "unsound": "snake_case",
		"missing": "there is no built-in module of this name", "far": "clone or download it",
	} {
		if !strings.Contains(got[module], want) {
			t.Errorf("%s failed with %q, want %q", module, got[module], want)
		}
	}
	if len(got) != 6 {
		t.Errorf("failures: %v", got)
	}
	if text := m.Failures()[0].Error(); !strings.HasPrefix(text, `plan:9:1: module "fails": `) {
		t.Errorf("failure reads %q", text)
	}
	if diff := cmp.Diff([]string{"events:started", "events:error"}, m.Contributions(mount.EventsChannel)); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"fails", "duplicate", `{"max_size":1}`}, log); diff != "" {
		t.Errorf("before shutdown (-want +got)\n%s", diff)
	}
	log = nil
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "panic: cleanup") {
		t.Errorf("Close returned %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("the second Close returned %v", err)
	}
	if diff := cmp.Diff([]string{"cleanup", "tool"}, log); diff != "" {
		t.Errorf("cleanups in reverse, once (-want +got)\n%s", diff)
	}
}

func TestRun_RemoteSources(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"git+https://github.com/org/x@main", "https://example.com/x.tgz", "git@github.com:org/x", "npm:x", "pypi:x", "github.com/org/x", "tools/count",
	} {
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: source}}, mount.Options{Dir: t.TempDir()})
		if got := failures(m)["x"]; !strings.Contains(got, "local directory") {
			t.Errorf("%s: %q", source, got)
		}
	}
}

// M4: no module from outside takes a name of the agent's.
func TestCoordinator_Names(t *testing.T) {
	t.Parallel()
	tool := func(id, alias string) tools.Tool {
		sound := *mock(id)
		if alias != "" {
			sound.Aliases = []tools.Alias{{Name: alias}}
		}
		return sound
	}
	tests := []struct {
		name string
		tool tools.Tool
		want string
	}{
		{"its own", tool("mine", "my_alias"), ""},
		{"a locked id", tool("bash", ""), "one of the agent's own tools"},
		{"a locked id as alias", tool("mine", "read"), "one of the agent's own tools"},
		{"an existing alias", tool("read_file", ""), `"read_file" is already the name of a tool`},
		{"an existing alias in other letters", tool("mine", "READ_FILE"), "already the name"},
		{"a server's", tool("mcp__x__y", ""), "begin with mcp__"},
		{"a toolbox's", tool("tb__x", ""), "begin with tb__"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := mount.NewCoordinator("m", "read_file").Mount(tt.tool)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	c := mount.NewCoordinator("m")
	if err := errors.Join(c.Mount(tool("a", "x")), c.Mount(tool("b", "x"))); err == nil || len(c.Tools()) != 1 {
		t.Errorf("two tools share an alias: %v, %v", ids(c.Tools()), err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Mount(tool("late", "")); err == nil {
		t.Error("a tool was mounted after shutdown")
	}
}

// R8: the agent's own tools are mounted by the plan like any others.
func TestPlan_With(t *testing.T) {
	t.Parallel()
	base := []tools.Tool{*mock("one"), *mock("two")}
	base[1].Aliases = []tools.Alias{{Name: "zwei"}}
	changed := *mock("one")
	changed.Description = "changed"
	o := mount.Options{Taken: mount.Names(base), Builtin: map[string]mount.Module{
		"one": returns(mount.Mounted{Tool: &changed}), "two": mount.Builtin(base[1]), "three": returns(mount.Mounted{Tool: mock("three")}),
	}}
	if diff := cmp.Diff([]string{"one", "two", "zwei"}, o.Taken); diff != "" {
		t.Errorf("names (-want +got)\n%s", diff)
	}
	plan := mount.Plan{{Module: "three"}, {Module: "one", At: "first"}, {Module: "one", At: "again"}, {Module: "two", Source: "./two"}}
	m := mount.Run(t.Context(), plan.With(base), o)
	if diff := cmp.Diff([]string{"one", "two", "three"}, ids(m.Tools())); diff != "" || m.Tools()[0].Description != "changed" {
		t.Errorf("tools (-want +got)\n%s", diff)
	}
	var failed []string
	for _, f := range m.Failures() {
		failed = append(failed, f.Module+" "+f.At)
	}
	if diff := cmp.Diff([]string{"one again", "two "}, failed); diff != "" {
		t.Errorf("failures (-want +got)\n%s", diff)
	}
}
