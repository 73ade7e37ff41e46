package mount_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// configured is one built-in tool mounted with a config.
func configured(t *testing.T, id, config string) (tools.Tool, error) {
	t.Helper()
	o := mount.Options{Builtin: mount.Builtins(builtin.All())}
	m := mount.Run(t.Context(), mount.Plan{{Module: id, Source: "builtin", Config: json.RawMessage(config)}}, o)
	if failed := m.Failures(); len(failed) > 0 {
		return tools.Tool{}, failed[0]
	}
	return m.Tools()[0], nil
}

func TestBuiltin_Config(t *testing.T) {
	t.Parallel()
	tests := []struct{ tool, config, want string }{
		{"read", ``, ""},
		{"read", `{}`, ""},
		{"read", `{"max_size":1,"allowed_paths":[]}`, ""},
		{"read", `{"max_sise":1}`, `unknown key "max_sise"; built-in tools have max_size and allowed_paths`},
		{"read", `{"max_size":0}`, "above 0"},
		{"read", `{"max_size":"1"}`, "number of bytes"},
		{"read", `{"allowed_paths":"/a"}`, "list of paths"},
		{"read", `{"allowed_paths":null}`, "list of paths"},
		{"read", `{"allowed_paths":[" "]}`, "a path is empty"},
		{"bash", `{"allowed_paths":["/a"]}`, "runs commands"},
		{"bash", `{"max_size":1000}`, ""},
	}
	for _, tt := range tests {
		_, err := configured(t, tt.tool, tt.config)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s with %s: got %v, want %q", tt.tool, tt.config, err, tt.want)
		}
	}
}

func TestBuiltin_TouchesNoPaths(t *testing.T) {
	t.Parallel()
	o := mount.Options{Builtin: map[string]mount.Module{"x": mount.Builtin(*mock("x"))}}
	m := mount.Run(t.Context(), mount.Plan{{Module: "x", Config: json.RawMessage(`{"allowed_paths":["/a"]}`)}}, o)
	if got := failures(m)["x"]; !strings.Contains(got, "touches no paths") {
		t.Errorf("got %q", got)
	}
}

// R8: the seed's config takes effect.
func TestBuiltin_MaxSize(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"small.txt": "ab\n", "large.txt": strings.Repeat("x", 100)}})
	tests := []struct{ tool, args, want string }{
		{"read", `{"path":"small.txt"}`, ""},
		{"read", `{"path":"large.txt"}`, "File /test-workspace/large.txt exceeds size limit (100 > 50)"},
		{"read", `{"path":"missing.txt"}`, "ENOENT"},
		{"write", `{"path":"new.txt","content":"` + strings.Repeat("y", 60) + `"}`, "exceeds size limit (61 > 50)"},
		{"write", `{"path":"new.txt","content":"y"}`, ""},
		{"edit", `{"path":"large.txt","old_str":"x","new_str":"y"}`, "exceeds size limit (100 > 50)"},
	}
	for _, tt := range tests {
		tool, err := configured(t, tt.tool, `{"max_size":50}`)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.Run(t.Context(), tool, tt.tool, tt.args)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s(%s): got %v, want %q", tt.tool, tt.args, err, tt.want)
		}
	}
}

// A result of a tool without a limit of its own is bounded too.
func TestBuiltin_MaxSizeOfResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40)
	o := mount.Options{Builtin: map[string]mount.Module{"x": mount.Builtin(tooltest.NewMock("x", long).Tool)}}
	m := mount.Run(t.Context(), mount.Plan{{Module: "x", Config: json.RawMessage(`{"max_size":21}`)}}, o)
	rt := tooltest.New(tooltest.Options{})
	result, err := rt.Run(t.Context(), m.Tools()[0], "x", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Truncated || !strings.HasPrefix(result.Text, strings.Repeat("é", 10)+"\n\n[Result truncated: 80 bytes exceed max_size 21]") {
		t.Errorf("result %+v", result)
	}
	if got := rt.Sidecars()[result.OutputPath]; got != long {
		t.Errorf("the sidecar holds %q", got)
	}
}

func TestBuiltin_AllowedPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool, config, args, want string
	}{
		{"inside", "read", `{"allowed_paths":["src"]}`, `{"path":"src/a.txt"}`, ""},
		{"absolute", "read", `{"allowed_paths":["/test-workspace/src"]}`, `{"path":"src/a.txt"}`, ""},
		{"the directory itself", "read", `{"allowed_paths":["src"]}`, `{"path":"src"}`, ""},
		{"outside", "read", `{"allowed_paths":["src"]}`, `{"path":"b.txt"}`, "read may not touch /test-workspace/b.txt\nits allowed_paths are src"},
		{"a name that begins the same", "read", `{"allowed_paths":["src"]}`, `{"path":"src2/c.txt"}`, "may not touch"},
		{"climbing", "read", `{"allowed_paths":["src"]}`, `{"path":"src/../b.txt"}`, "may not touch"},
		{"a link that leads out", "read", `{"allowed_paths":["src"]}`, `{"path":"src/out"}`, "may not touch"},
		{"an allowed link", "read", `{"allowed_paths":["src/out"]}`, `{"path":"b.txt"}`, ""},
		{"nothing allowed", "read", `{"allowed_paths":[]}`, `{"path":"src/a.txt"}`, "may not touch"},
		{"writing", "write", `{"allowed_paths":["src"]}`, `{"path":"new.txt","content":""}`, "may not touch"},
		{"searching", "grep", `{"allowed_paths":["src"]}`, `{"pattern":"x"}`, "may not touch"},
		{"home", "read", `{"allowed_paths":["~"]}`, `{"path":"~/n.txt"}`, ""},
		{"arguments of the wrong type", "read", `{"allowed_paths":["src"]}`, `{"path":[7]}`, `"path"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"src/a.txt": "a", "b.txt": "b", "src2/c.txt": "c", "/home/tester/n.txt": "n"}})
			rt.Mem.Link("src/out", "/test-workspace/b.txt")
			tool, err := configured(t, tt.tool, tt.config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = rt.Run(t.Context(), tool, tt.tool, tt.args)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			// Also when the stage before the call is left out.
			if strings.Contains(tt.want, "may not touch") {
				_, err := tool.Run(t.Context(), rt, tools.NewArgs(tt.args))
				var failure *tools.Error
				if !errors.As(err, &failure) || failure.Kind != tools.Denied {
					t.Errorf("run alone: %v", err)
				}
			}
		})
	}
}

// A built-in tool that is configured keeps the whole contract.
func TestBuiltin_Conforms(t *testing.T) {
	t.Parallel()
	for _, tool := range builtin.All() {
		if slices.Contains(tool.Requires.Capabilities, capability.CapShellRun) || tool.Resources == nil {
			continue
		}
		narrowed, err := configured(t, tool.ID, `{"max_size":100000,"allowed_paths":["`+tooltest.Workspace+`"]}`)
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Conform(t, narrowed)
	}
}
