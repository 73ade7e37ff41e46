package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/internal/testkit/schematest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a value of a wire type whose JSON stands in testdata/golden/<Type>.json.
type golden struct {
	value      any
	definition string // what it is judged by, if that is not of the type's name
	draft      bool   // whether only the unstable schema knows it
}

func goldens() []golden {
	return slices.Concat(goldenInitialize(), goldenSession(), goldenConfig(), goldenUpdate(), goldenToolCall(),
		goldenClient(), goldenSubagent(), goldenElicitation(), goldenContent(), goldenUnknown())
}

func (g golden) name() string { return reflect.TypeOf(g.value).Name() }

func (g golden) path() string { return filepath.Join("testdata", "golden", g.name()+".json") }

// Each type encodes as its golden file says, and what is decoded from the file encodes
// the same.
func TestGolden(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name(), func(t *testing.T) {
			got := encode(t, g.value)
			if *update {
				if err := os.WriteFile(g.path(), got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(g.path())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("encoding (-want +got):\n%s", diff)
			}
			back := reflect.New(reflect.TypeOf(g.value))
			if _, ok := back.Interface().(json.Unmarshaler); !ok {
				return // an unknown variant decodes as part of its union only
			}
			if err := json.Unmarshal(want, back.Interface()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(encode(t, back.Elem().Interface()))); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
		})
	}
}

// Each golden file fits the official schema.
func TestGolden_FitsSchema(t *testing.T) {
	v := schematest.Open(t)
	for _, g := range goldens() {
		if strings.HasPrefix(g.name(), "Unknown") || g.definition == "-" {
			continue
		}
		t.Run(g.name(), func(t *testing.T) {
			raw, err := os.ReadFile(g.path())
			if err != nil {
				t.Fatal(err)
			}
			v := v
			if g.draft {
				v = schematest.Open(t)
				v.AllowDrafts()
			}
			name := g.definition
			if name == "" {
				name = g.name()
			}
			if err := v.Definition(name, raw); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each struct of the generated files has a golden file, and each file a struct.
func TestGolden_Complete(t *testing.T) {
	want := generatedStructs(t)
	var got []string
	for _, g := range goldens() {
		got = append(got, g.name())
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types with a golden value (-want +got):\n%s", diff)
	}
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	slices.Sort(files)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("golden files (-want +got):\n%s", diff)
	}
}

func generatedStructs(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

// encode writes v as the wire would, but indented.
func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// note is the `_meta` of the golden values.
func note() map[string]any { return map[string]any{"example.com/note": "kept"} }

func goldenUnknown() []golden {
	raw := json.RawMessage(`{"type":"hologram","depth":[3]}`)
	return []golden{
		{value: schema.UnknownAuthMethod{Raw: raw}},
		{value: schema.UnknownContentBlock{Raw: raw}},
		{value: schema.UnknownElicitationPropertySchema{Raw: raw}},
		{value: schema.UnknownEmbeddedResourceResource{Raw: raw}},
		{value: schema.UnknownMcpServer{Raw: raw}},
		{value: schema.UnknownMultiSelectItems{Raw: raw}},
		{value: schema.UnknownRequestPermissionOutcome{Raw: raw}},
		{value: schema.UnknownSessionConfigOption{Raw: raw}},
		{value: schema.UnknownSessionUpdate{Raw: raw}},
		{value: schema.UnknownToolCallContent{Raw: raw}},
	}
}
