package mount_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools/mount"
)

// The plan of seed 004.
const seedPlan = `tools:
  - module: my-tool
    source: git+https://github.com/org/my-tool@main
    config:
      max_size: 1048576
      allowed_paths:
        - /home/user/projects
`

func TestParsePlan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             mount.Plan
	}{
		{"the seed's", "plan.yaml", seedPlan, mount.Plan{{
			Module: "my-tool", Source: "git+https://github.com/org/my-tool@main", At: "plan.yaml:2:5",
			Config: json.RawMessage(`{"max_size":1048576,"allowed_paths":["/home/user/projects"]}`),
		}}},
		{"JSON with comments", "plan.jsonc", "{\n  // ours\n  \"tools\": [\n    {\"module\": \"read\", \"config\": {\"n\": 1.50, \"e\": \"\\ud83d\\ude00\"}},\n  ],\n}", mount.Plan{{
			Module: "read", At: "plan.jsonc:4:5", Config: json.RawMessage(`{"n":1.50,"e":"\ud83d\ude00"}`),
		}}},
		{"JSON without a name", "config", `{"tools":[{"module":"a"},{"module":"a"}]}`, mount.Plan{
			{Module: "a", At: "config:1:11"}, {Module: "a", At: "config:1:26"},
		}},
		{"YAML values", "p.yml", "tools:\n- module: a\n  config: {n: null, b: yes, t: true, i: 0x10, f: 1e3, d: 2026-01-02, s: '1', l: [], 'x y': {}}", mount.Plan{{
			Module: "a", At: "p.yml:2:3", Config: json.RawMessage(`{"n":null,"b":"yes","t":true,"i":16,"f":1000,"d":"2026-01-02","s":"1","l":[],"x y":{}}`),
		}}},
		{"no tools", "p.yml", "tools:\n", nil},
		{"an empty list", "p.yml", "tools: []\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := mount.ParsePlan([]byte(tt.text), tt.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParsePlan_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "p: is empty"},
		{"unknown key", "tools: []\nhooks: []\n", `p:2:1: unknown key "hooks"`},
		{"unknown key of a module", "tools:\n- module: a\n  sauce: b\n", `p:3:3: unknown key "sauce"; a module has module, source, config`},
		{"key twice", "tools:\n- module: a\n  module: b\n", `p:3:3: tools[0].module: is set twice; keep one`},
		{"key of the config twice", `{"tools":[{"module":"a","config":{"x":1,"x":2}}]}`, `p:1:41: tools[0].config.x: is set twice; keep one`},
		{"no module", "tools:\n- source: builtin\n", `p:2:3: "module" is missing`},
		{"module is a number", "tools:\n- module: 7\n", `p:2:11: "module" must be a string`},
		{"source is null", "tools:\n- module: a\n  source:\n", `"source" must be a string`},
		{"config is a list", "tools:\n- module: a\n  config: []\n", `p:3:11: "config" must be an object`},
		{"tools is an object", "tools: {}\n", `p:1:8: "tools" must be a list`},
		{"no object", "- a\n", "p:1:1: a mount plan must be an object"},
		{"anchors", "tools: &x\n- module: a\n", "p:1:8: tools: an anchor or alias"},
		{"merge keys", "tools:\n- <<: {module: a}\n", "p:2:3: a field needs a plain name"},
		{"two documents", "tools: []\n---\ntools: []\n", "more than one document"},
		{"not a number", "tools:\n- module: a\n  config: {x: .nan}\n", "p:3:15: tools[0].config.x: expects a number"},
		{"broken YAML", "tools: [\n", "p:"},
		{"broken JSON", "{\n  \"tools\" 7}", "p:2:"},
		{"too large", "tools: []\n#" + strings.Repeat("x", 300<<10), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plan, err := mount.ParsePlan([]byte(tt.text), "p")
			var mistake *mount.PlanError
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want an error with %q", plan, err, tt.want)
			}
		})
	}
}

func TestToolID(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"my-tool": "my_tool", "read_it2": "read_it2", "Tool": "", "": "", "2x": "", "a b": "", "-x": "", strings.Repeat("x", 65): ""} {
		if got, err := mount.ToolID(name); got != want || (err == nil) == (want == "") {
			t.Errorf("%q became %q, %v; want %q", name, got, err, want)
		}
	}
}

// FuzzParsePlan holds that no text breaks the parser, and that whatever it takes
// has module names and configs that are JSON objects.
func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(seedPlan))
	f.Add([]byte(`{"tools":[{"module":"a","config":{"x":[1,{"y":null}]}}]} // c`))
	f.Add([]byte("tools:\n- {module: a, config: {? {b: c} : d}}"))
	f.Add([]byte("tools:\n- module: !!binary aGk=\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := mount.ParsePlan(text, "p")
		if err != nil {
			if plan != nil {
				t.Errorf("an error and a plan: %v, %v", plan, err)
			}
			return
		}
		for _, entry := range plan {
			if entry.Module == "" || entry.Config != nil && (!json.Valid(entry.Config) || entry.Config[0] != '{') {
				t.Errorf("entry %+v", entry)
			}
		}
	})
}
