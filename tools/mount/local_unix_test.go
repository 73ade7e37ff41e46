//go:build unix

package mount_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

const manifest = `{"name":"my-tool","description":"x","executable":"./run.sh"}`

// module writes a module's directory that others cannot change.
func module(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "tool.json"), manifest, 0o644)
	put(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\n", 0o755)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

func mountLocal(t *testing.T, dir string, o mount.Options) (*mount.Mounting, tools.Tool) {
	t.Helper()
	m := mount.Run(t.Context(), mount.Plan{{Module: "my-tool", Source: dir, Config: []byte(`{"k":1}`)}}, o)
	if failed := m.Failures(); len(failed) > 0 {
		t.Fatal(failed[0])
	}
	return m, m.Tools()[0]
}

func TestLocal_Manifest(t *testing.T) {
	t.Parallel()
	dir := module(t, `{"name":"my-tool","description":"Does\u0007 it.","parameters":{"properties":{"a":{"type":"string"}}},"executable":"run.sh",
		"kind":"search","requires":{"fs":{"read":["{workspace}/src"]}},"readonly":true,"events":["my-tool:done"],"timeout_ms":5000}`)
	m, tool := mountLocal(t, dir, mount.Options{})
	tool.Run = nil
	if tool.Parameters == nil || tool.Parameters.Type != "object" || tool.Parameters.Properties["a"] == nil {
		t.Errorf("parameters %v", tool.Parameters)
	}
	tool.Parameters, tool.Origin = nil, nil // see TestLocal_Origin
	want := tools.Spec{
		ID: "my_tool", Description: "Does it.", Kind: kinds.Search, ReadOnly: true, DisableTimeout: true,
		Requires: capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}/src"}}, Capabilities: []string{"shell.run"}},
		Source:   tools.Source{Kind: tools.Module, Server: "my-tool"},
	}
	if diff := cmp.Diff(want, tool.Spec); diff != "" {
		t.Errorf("spec (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"my-tool:done"}, m.Contributions(mount.EventsChannel)); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}

func TestLocal_Sources(t *testing.T) {
	t.Parallel()
	dir := module(t, manifest)
	parent, base := filepath.Split(dir)
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, linked); err != nil {
		t.Fatal(err)
	}
	o := mount.Options{Dir: parent, Home: parent}
	for source, want := range map[string]string{
		dir: "", "./" + base: "", "file:" + dir: "", "file://" + dir: "", "file:" + base: "", "~/" + base: "", linked: "",
		"./missing": "there is no directory", "file:" + filepath.Join(dir, "run.sh"): "is not a directory",
	} {
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: source}}, o)
		if got := failures(m)["x"]; want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
	for source, want := range map[string]string{"./x": "relative", "~/x": "no home directory"} {
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: source}}, mount.Options{})
		if got := failures(m)["x"]; !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

func TestLocal_Refuses(t *testing.T) {
	t.Parallel()
	with := func(edit string) string { return strings.TrimSuffix(manifest, "}") + "," + edit + "}" }
	tests := []struct{ name, manifest, want string }{
		{"no JSON", `{`, "tool.json"},
		{"unknown key", with(`"exec":1`), `unknown field "exec"`},
		{"two objects", manifest + "{}", "follows"},
		{"no executable", `{"name":"a","description":"x"}`, `"executable" is missing`},
		{"executable missing", `{"name":"a","description":"x","executable":"./no.sh"}`, "there is no file"},
		{"executable outside", `{"name":"a","description":"x","executable":"/bin/sh"}`, "not inside the directory"},
		{"executable is the directory", `{"name":"a","description":"x","executable":"."}`, "not inside"},
		{"bad name", `{"name":"My Tool","description":"x","executable":"run.sh"}`, "snake_case"},
		{"locked id", `{"name":"bash","description":"x","executable":"run.sh"}`, "one of the agent's own tools"},
		{"taken", `{"name":"read-file","description":"x","executable":"run.sh"}`, "already the name of a tool"},
		{"blank description", `{"name":"a","description":" ","executable":"run.sh"}`, "description is missing"},
		{"schema of an array", with(`"inputSchema":{"type":"array"}`), "type object"},
		{"schema twice", with(`"inputSchema":{},"parameters":{}`), "mean the same"},
		{"broken schema", with(`"inputSchema":{"properties":{"a":{"pattern":"("}}}`), "input schema"},
		{"timeout", with(`"timeout_ms":-1`), "timeout_ms"},
		{"undefined variable", with(`"requires":{"fs":{"read":["{workspce}/x"]}}`), "undefined variable {workspce}"},
		{"no one to ask", `{"executable":"run.sh"}`, "it cannot be asked here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: module(t, tt.manifest)}}, mount.Options{Taken: []string{"read_file"}})
			if got := failures(m)["x"]; !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	var undefined *capability.UndefinedError
	m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: module(t, with(`"requires":{"net":{"hosts":["{nope}"]}}`))}}, mount.Options{})
	if err := error(m.Failures()[0]); !errors.As(err, &undefined) || undefined.Name != "nope" {
		t.Errorf("got %v, want an UndefinedError", err)
	}
}

// B1: what others can change is not run.
func TestLocal_Trust(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(dir string) error
		want   string
	}{
		{"executable for the group", func(d string) error { return os.Chmod(filepath.Join(d, "run.sh"), 0o775) }, "chmod go-w"},
		{"tool.json for all", func(d string) error { return os.Chmod(filepath.Join(d, "tool.json"), 0o646) }, "chmod go-w"},
		{"directory for all", func(d string) error { return os.Chmod(d, 0o777) }, "chmod go-w"},
		{"not executable", func(d string) error { return os.Chmod(filepath.Join(d, "run.sh"), 0o644) }, "chmod u+x"},
		{"a link that leads out", func(d string) error {
			return errors.Join(os.Remove(filepath.Join(d, "run.sh")), os.Symlink("/bin/sh", filepath.Join(d, "run.sh")))
		}, "not inside"},
		{"a directory", func(d string) error {
			return errors.Join(os.Remove(filepath.Join(d, "run.sh")), os.Mkdir(filepath.Join(d, "run.sh"), 0o755))
		}, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, manifest)
			_, tool := mountLocal(t, dir, mount.Options{})
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: dir}}, mount.Options{})
			if got := failures(m)["x"]; !strings.Contains(got, tt.want) {
				t.Errorf("mount: got %q, want %q", got, tt.want)
			}
			if strings.HasPrefix(tt.name, "tool.json") {
				return // read once
			}
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"ran"}}}})
			if _, err := tool.Run(t.Context(), rt, tools.NewArgs(`{}`)); err == nil || len(rt.Procs.Programs()) > 0 {
				t.Errorf("a changed module ran: %v", err)
			}
		})
	}
}

func TestLocal_Describe(t *testing.T) {
	t.Parallel()
	dir := module(t, `{"executable":"run.sh"}`)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(stdout string, err error) mount.Options {
		return mount.Options{Describe: func(_ context.Context, call mount.Describing) ([]byte, error) {
			want := mount.Describing{
				Args: []string{filepath.Join(real, "run.sh"), "describe"}, Dir: real,
				Env: []string{"TOOLBOX_ACTION=describe", "AGENT=acp-agent", `TOOLBOX_CONFIG={"k":1}`},
			}
			if diff := cmp.Diff(want, call); diff != "" {
				t.Errorf("call (-want +got)\n%s", diff)
			}
			return []byte(stdout), err
		}}
	}
	_, tool := mountLocal(t, dir, answer(`{"name":"told","description":"by itself","inputSchema":{"required":["a"]},"more":1}`, nil))
	if tool.ID != "told" || tool.Description != "by itself" || len(tool.Parameters.Required) != 1 {
		t.Errorf("tool %+v", tool.Spec)
	}
	plan := mount.Plan{{Module: "x", Source: dir, Config: []byte(`{"k":1}`)}}
	for name, o := range map[string]mount.Options{
		"no JSON": answer("usage: run.sh", nil), "error": answer("", errors.New("exit 1")), "nothing": answer("{}", nil),
		"too much": answer(strings.Repeat(" ", 300<<10), nil), "no object": answer("[]", nil),
	} {
		if m := mount.Run(t.Context(), plan, o); len(m.Failures()) != 1 {
			t.Errorf("%s: mounted %v", name, ids(m.Tools()))
		}
	}
}

// Modules are asked all at once, so that several that hang cost no more than
// one, and are mounted in the order of the plan whichever answers first.
func TestLocal_DescribeTogether(t *testing.T) {
	hung := module(t, `{"executable":"run.sh"}`)
	var plan mount.Plan
	late := map[string]time.Duration{} // by directory
	for i, name := range []string{"c", "a", "hung_1", "b", "hung_2"} {
		dir := hung
		if !strings.HasPrefix(name, "hung") {
			dir = module(t, `{"executable":"run.sh"}`)
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			late[real] = time.Duration(4-i) * time.Second
		}
		plan = append(plan, mount.Entry{Module: name, Source: dir, Config: fmt.Appendf(nil, `{"name":%q}`, name)})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := mount.Run(t.Context(), plan, mount.Options{
			Describe: func(ctx context.Context, call mount.Describing) ([]byte, error) {
				wait, ok := late[call.Dir]
				if !ok {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				time.Sleep(wait)
				name := call.Env[2][len(`TOOLBOX_CONFIG={"name":"`):][:1]
				return fmt.Appendf(nil, `{"name":"tool_%s","description":"d"}`, name), nil
			},
		})
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("mounting took %s", took)
		}
		if diff := cmp.Diff([]string{"tool_c", "tool_a", "tool_b"}, ids(m.Tools())); diff != "" {
			t.Errorf("tools (-want +got)\n%s", diff)
		}
		for _, failure := range m.Failures() {
			if !strings.HasPrefix(failure.Module, "hung") || !strings.Contains(failure.Error(), "longer than 20s") {
				t.Errorf("failure %v", failure)
			}
		}
		if len(m.Failures()) != 2 {
			t.Errorf("failures: %v", m.Failures())
		}
	})
}

// What panics while it is asked fails alone.
func TestLocal_DescribePanics(t *testing.T) {
	t.Parallel()
	m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: module(t, `{"executable":"run.sh"}`)}}, mount.Options{
		Describe: func(context.Context, mount.Describing) ([]byte, error) { panic("boom") },
	})
	if got := failures(m)["x"]; !strings.Contains(got, "boom") {
		t.Errorf("failure %q", got)
	}
}

func TestLocal_DescribeTime(t *testing.T) {
	dir := module(t, `{"executable":"run.sh"}`)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: dir}}, mount.Options{
			Describe: func(ctx context.Context, _ mount.Describing) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		if got := failures(m)["x"]; !strings.Contains(got, "longer than 20s") || time.Since(start) != 20*time.Second {
			t.Errorf("got %q after %s", got, time.Since(start))
		}
	})
}
