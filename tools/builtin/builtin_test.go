package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// tool returns the tool that answers to a name.
func tool(t *testing.T, name string) tools.Tool {
	t.Helper()
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := registry.Get(registry.Canonical(name))
	if !ok {
		t.Fatalf("no tool answers to %q", name)
	}
	return entry.Tool
}

// run runs one call and fails the test when the tool does.
func run(t *testing.T, rt *tooltest.Runtime, name string, args map[string]any) *tools.Result {
	t.Helper()
	result, err := rt.Run(t.Context(), tool(t, name), name, encode(t, args))
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	return result
}

// fail runs one call that must fail with a *tools.Error.
func fail(t *testing.T, rt *tooltest.Runtime, name string, args map[string]any) *tools.Error {
	t.Helper()
	result, err := rt.Run(t.Context(), tool(t, name), name, encode(t, args))
	failure, ok := errors.AsType[*tools.Error](err)
	if !ok {
		t.Fatalf("%s(%v) = %+v, %v; want a *tools.Error", name, args, result, err)
	}
	return failure
}

func encode(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// data is a result's data as clients see it.
func data(t *testing.T, result *tools.Result) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(encode(t, result.Data)), &object); err != nil {
		t.Fatalf("data is no object: %v", err)
	}
	return object
}

// profiles are the limits under which every table of the seeds must hold.
func profiles() map[string]tools.Limits {
	return map[string]tools.Limits{"canonical": tools.CanonicalLimits(), "amp": tools.AmpLimits()}
}

// under runs a test under both profiles and every given name of a tool.
func under(t *testing.T, names []string, test func(t *testing.T, limits tools.Limits, name string)) {
	t.Helper()
	for profile, limits := range profiles() {
		for _, name := range names {
			t.Run(profile+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, limits, name)
			})
		}
	}
}

func TestAll_Conform(t *testing.T) {
	t.Parallel()
	for _, tool := range builtin.All() {
		t.Run(tool.ID, func(t *testing.T) {
			t.Parallel()
			tooltest.Conform(t, tool)
		})
	}
}

// Every prompt text has a tool in the list; every tool has its files, a kind, a label, a
// row in docs/tools.md that tells its default rule, and a script that calls it.
func TestAll_FilesAndList(t *testing.T) {
	t.Parallel()
	prompts, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts := scripts(t)
	var runs string // what scripts run a tool by hand
	for line := range strings.Lines(scripts) {
		if _, args, ok := strings.Cut(line, " tool "); ok && strings.HasPrefix(line, "agent") {
			runs += args
		}
	}
	rows := documented(t)
	var ids []string
	for _, tool := range builtin.All() {
		if !strings.Contains(scripts, `"name":"`+tool.ID+`"`) && !regexp.MustCompile(`\b`+tool.ID+`\b`).MatchString(runs) {
			t.Errorf("no script of testdata/scripts calls %s", tool.ID)
		}
		want := fmt.Sprintf("| %s | %s", tool.Kind, asks(tool.Default))
		if rest, ok := strings.CutPrefix(rows[tool.ID], want); !ok || strings.Trim(rest[:1], " ;,") != "" {
			t.Errorf("docs/tools.md: the row of %s begins with %.80q, want %q", tool.ID, rows[tool.ID], want)
		}
		ids = append(ids, tool.ID)
		for _, file := range []string{tool.ID + ".md", tool.ID + ".go", tool.ID + "_test.go"} {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("tool %s: %v", tool.ID, err)
			}
		}
		if !tool.Kind.Valid() || tool.Label == "" {
			t.Errorf("tool %s has the kind %q and the label %q, and wants both", tool.ID, tool.Kind, tool.Label)
		}
	}
	for _, prompt := range prompts {
		if id := strings.TrimSuffix(prompt, ".md"); !slices.Contains(ids, id) {
			t.Errorf("%s has no entry in All", prompt)
		}
	}
}

// scripts are the texts of all scripts that drive the binary.
func scripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/scripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// documented are the rows of the table in docs/tools.md, by tool, without the first cell.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` (\\|.*)$").FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = row[2]
	}
	return rows
}

// asks is the cell of docs/tools.md that says when a tool runs without a question.
func asks(d capability.Default) string {
	if d.Has(capability.AllowAlways) {
		return "always"
	}
	var cases []string
	for _, c := range []struct {
		of   capability.Default
		text string
	}{
		{capability.AllowChanges, "in the scratch directory; in the project in modes *Code* and *Auto*"},
		{capability.AllowDeletes, "in the scratch directory; in the project in mode *Auto*"},
		{capability.AllowTrusted, "in a trusted project, in mode *Auto*"},
		{capability.AllowSandboxed, "sandboxed in mode *Auto*"},
		{capability.AllowGrantedHosts, "for hosts that are named"},
	} {
		if d.Has(c.of) {
			cases = append(cases, c.text)
		}
	}
	if len(cases) == 0 {
		return "never"
	}
	return strings.Join(cases, "; ")
}

// The whole first request must stay small, and what a text says of a limit
// must be what the code does.
func TestAll_Prompts(t *testing.T) {
	t.Parallel()
	quoted := map[string][]int{
		"read": {builtin.DefaultLines, builtin.MaxLines, builtin.MaxLineBytes},
		"glob": {tools.CanonicalLimits().GlobTotal},
		"grep": {builtin.GrepPerFile, builtin.GrepLine},
		"bash": {0},

		"apply_patch": {tools.CanonicalLimits().FilesPerCall},
	}
	number := regexp.MustCompile(`\d+`)
	for _, tool := range builtin.All() {
		if len(tool.Description) > 450 {
			t.Errorf("description of %s has %d bytes, want at most 450", tool.ID, len(tool.Description))
		}
		var found []int
		for _, digits := range number.FindAllString(strings.ReplaceAll(tool.Description, "RE2", ""), -1) {
			n, err := strconv.Atoi(digits)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, n)
		}
		if !slices.Equal(found, quoted[tool.ID]) {
			t.Errorf("description of %s quotes %v, the code says %v", tool.ID, found, quoted[tool.ID])
		}
	}
}

func TestAll_Names(t *testing.T) {
	t.Parallel()
	tests := []struct {
		canonical string
		names     []string
	}{
		{"read", []string{"read", "Read", "read_file", "list_directory"}},
		{"write", []string{"write", "Write", "write_file", "create_file"}},
		{"edit", []string{"edit", "Edit", "edit_file"}},
		{"bash", []string{"bash", "Bash", "run_terminal_command"}},
		{"grep", []string{"grep", "Grep", "search"}},
		{"glob", []string{"glob", "Glob"}},
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		for _, name := range tt.names {
			if got := registry.Canonical(name); got != tt.canonical {
				t.Errorf("Canonical(%q) = %q, want %q", name, got, tt.canonical)
			}
		}
	}
}

// The seeds fix the arguments' names and which are required.
func TestAll_Schemas(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id                 string
		required, optional []string
	}{
		{"read", []string{"path"}, []string{"read_range", "byte_range"}},
		{"write", []string{"path", "content"}, nil},
		{"edit", []string{"path", "old_str", "new_str"}, []string{"replace_all"}},
		{"glob", []string{"filePattern"}, []string{"limit", "offset"}},
		{"grep", []string{"pattern"}, []string{"path", "glob", "caseSensitive", "literal"}},
		{"bash", []string{"cmd"}, []string{"cwd", "timeout", "background"}},
		{"job_output", []string{"job"}, []string{"pattern", "wait"}},
	}
	for _, tt := range tests {
		spec := tool(t, tt.id).Spec
		schema := spec.Parameters
		if spec.Shown != nil {
			schema = spec.Shown
		}
		if !slices.Equal(schema.Required, tt.required) {
			t.Errorf("%s requires %v, want %v", tt.id, schema.Required, tt.required)
		}
		if want := slices.Concat(tt.required, tt.optional); !slices.Equal(schema.PropertyOrder, want) {
			t.Errorf("%s has %v, want %v", tt.id, schema.PropertyOrder, want)
		}
	}
}

// What the pipeline and the permission defaults derive from the specs.
func TestAll_Specs(t *testing.T) {
	t.Parallel()
	type spec struct {
		ReadOnly, OwnLimit bool
		Serial, Previews   bool
		Requires           capability.RequirementSet
	}
	scopes := []string{"{workspace}", "{ad-hoc}"}
	reads := capability.RequirementSet{FS: capability.FS{Read: scopes}}
	want := map[string]spec{
		"read":  {ReadOnly: true, OwnLimit: true, Requires: reads},
		"glob":  {ReadOnly: true, OwnLimit: true, Requires: reads},
		"grep":  {ReadOnly: true, OwnLimit: true, Requires: reads},
		"write": {Previews: true, Requires: capability.RequirementSet{FS: capability.FS{Write: scopes}}},
		"edit":  {Previews: true, Requires: capability.RequirementSet{FS: capability.FS{Read: scopes, Write: scopes}}},
		"bash": {
			OwnLimit: true, Serial: true,
			Requires: capability.RequirementSet{Capabilities: []string{capability.CapShellRun}},
		},
	}
	for id, want := range want {
		tool := tool(t, id)
		got := spec{
			ReadOnly: tool.ReadOnly, OwnLimit: tool.OwnLimit,
			Serial: tool.Profile.Serial, Previews: tool.Preview != nil, Requires: tool.Requires,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// Writers of one file conflict however its path is spelt; what they touch is
// named as it will be used (trap 32).
func TestAll_WritersShareTheirKey(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"real/f.txt": ""}})
	rt.Mem.Link("alias", "real")
	for _, path := range []string{"real/f.txt", "./real/../real/f.txt", "/test-workspace/alias/f.txt"} {
		args := json.RawMessage(encode(t, map[string]any{"path": path}))
		for _, id := range []string{"write", "edit"} {
			keys := tool(t, id).Profile.Keys(tools.NewArgs(args), rt.Sess.Env)
			if diff := cmp.Diff([]tools.ResourceKey{{Key: "/test-workspace/real/f.txt", Write: true}}, keys); diff != "" {
				t.Errorf("keys of %s %s (-want +got):\n%s", id, path, diff)
			}
		}
	}
	args := json.RawMessage(`{"path":"a.txt"}`)
	for id, want := range map[string][]tools.Resource{
		"write": {{Kind: tools.PathWrite, Value: "/test-workspace/a.txt"}},
		"edit":  {{Kind: tools.PathRead, Value: "/test-workspace/a.txt"}, {Kind: tools.PathWrite, Value: "/test-workspace/a.txt"}},
	} {
		if diff := cmp.Diff(want, tool(t, id).Resources(tools.NewArgs(args), rt.Sess.Env)); diff != "" {
			t.Errorf("resources of %s (-want +got):\n%s", id, diff)
		}
	}
}

// One argument under two names is fine when they agree and an error otherwise.
func TestAll_BothNames(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.txt": "one\n"}})
	run(t, rt, "read", map[string]any{"path": "a.txt", "file_path": "a.txt"})
	failure := fail(t, rt, "read", map[string]any{"path": "a.txt", "file_path": "b.txt"})
	if failure.Kind != tools.BadInput || !strings.Contains(failure.Message, "file_path") {
		t.Errorf("error = %v, want one that names file_path", failure)
	}
}
