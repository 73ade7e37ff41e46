package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools"

	"github.com/google/jsonschema-go/jsonschema"
)

type pairArgs struct {
	Path  string  `json:"path"`
	Count float64 `json:"count,omitempty"`
	Items []struct {
		Name string `json:"name"`
	} `json:"items,omitempty"`
}

func sample(id string, edit ...func(*tools.Spec)) tools.Tool {
	spec := tools.Spec{ID: id, Description: "A tool of a test."}
	for _, f := range edit {
		f(&spec)
	}
	return tools.Define(spec, func(context.Context, tools.Runtime, pairArgs) (*tools.Result, error) { return nil, nil })
}

func named(aliases ...tools.Alias) func(*tools.Spec) {
	return func(s *tools.Spec) { s.Aliases = aliases }
}

func TestNewRegistry_Refuses(t *testing.T) {
	tests := []struct {
		name string
		list []tools.Tool
		want string
	}{
		{"no id", []tools.Tool{sample("")}, "snake_case"},
		{"not snake_case", []tools.Tool{sample("Read-It")}, "snake_case"},
		{"no description", []tools.Tool{sample("a", func(s *tools.Spec) { s.Description = " " })}, "description"},
		{"no function", []tools.Tool{{Spec: tools.Spec{ID: "a", Description: "x"}}}, "function"},
		{"the same id twice", []tools.Tool{sample("a"), sample("a")}, `"a" already belongs to a`},
		{"an alias that is an id", []tools.Tool{sample("a"), sample("b", named(tools.Alias{Name: "a"}))}, `"a" already belongs to a`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := tools.NewRegistry(test.list...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestRegistry_Resolve(t *testing.T) {
	registry, err := tools.NewRegistry(
		sample("read_it", named(tools.Alias{Name: "ReadIt", Renames: map[string]string{"where": "path"}}), func(s *tools.Spec) {
			s.Renames = map[string]string{"file_path": "path"}
		}),
		sample("write_it"),
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, tool, args, want, fail string }{
		{"canonical", "read_it", `{"path":"a"}`, `{"path":"a"}`, ""},
		{"alias", "ReadIt", `{"path":"a"}`, `{"path":"a"}`, ""},
		{"the tool's rename", "read_it", `{"file_path":"a"}`, `{"path":"a"}`, ""},
		{"the alias's rename", "ReadIt", `{"where":"a"}`, `{"path":"a"}`, ""},
		{"the alias's rename under another name", "read_it", `{"where":"a"}`, `{"where":"a"}`, ""},
		{"both and equal", "read_it", `{"file_path":"a","path":"a"}`, `{"path":"a"}`, ""},
		{"both and different", "read_it", `{"file_path":"a","path":"b"}`, "", "different values"},
		{"a number and its text differ", "read_it", `{"file_path":1,"path":"1"}`, "", "different values"},
		{"not an object", "read_it", `[1]`, `[1]`, ""},
		{"unknown, near", "write", `{}`, "", "did you mean write_it"},
		{"unknown, far", "frobnicate", `{}`, "", "the tools are read_it, write_it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			entry, args, err := registry.Resolve(test.tool, json.RawMessage(test.args), nil)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Errorf("got %v, want an error with %q", err, test.fail)
				}
				return
			}
			if err != nil || entry.ID != "read_it" || string(args) != test.want {
				t.Errorf("got %v, %s, %v; want %s", entry, args, err, test.want)
			}
		})
	}
}

func TestEntry_ValidateNamesTheArgument(t *testing.T) {
	registry, err := tools.NewRegistry(sample("a"))
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := registry.Get("a")
	tests := []struct{ name, args, want string }{
		{"good", `{"path":"x","count":2}`, ""},
		{"missing", `{}`, `required argument "path" is missing`},
		{"unknown", `{"path":"x","colour":"red"}`, `unknown argument "colour"`},
		{"wrong type", `{"path":7}`, `"path"`},
		{"null", `{"path":null}`, `"path": type: null has type "null"`},
		{"wrong type within a list", `{"path":"x","items":[{"name":1}]}`, `"items[].name"`},
		{"not JSON", `{"path":`, "not valid JSON"},
		{"trailing text", `{"path":"x"} and more`, "not valid JSON"},
		{"not an object", `null`, "must be a JSON object, not null"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := entry.Validate(tools.NewArgs(test.args))
			var failure *tools.Error
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (!errors.As(err, &failure) || failure.Kind != tools.BadInput || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want a bad input with %q", err, test.want)
			}
		})
	}
}

// R17: an alias may have a schema of its own, and arguments that need more than
// new names.
func TestResolve_AliasWithItsOwnSchema(t *testing.T) {
	tool := tools.Tool{
		Spec: tools.Spec{
			ID: "move", Description: "Moves.",
			Parameters: &jsonschema.Schema{Type: "object", Required: []string{"from", "to"}, Properties: map[string]*jsonschema.Schema{
				"from": {Type: "string"}, "to": {Type: "string"},
			}},
			Aliases: []tools.Alias{{
				Name: "mv", Renames: map[string]string{"files": "list"},
				Parameters: &jsonschema.Schema{Type: "object", Required: []string{"files"}, Properties: map[string]*jsonschema.Schema{
					"files": {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
				}},
				Map: func(args json.RawMessage) (json.RawMessage, error) {
					var a struct{ List []string }
					if err := json.Unmarshal(args, &a); err != nil || len(a.List) != 2 {
						return nil, tools.Errorf(tools.BadInput, "mv needs two files")
					}
					return json.Marshal(map[string]string{"from": a.List[0], "to": a.List[1]})
				},
			}},
		},
		Run: func(context.Context, tools.Runtime, tools.Args) (*tools.Result, error) { return nil, nil },
	}
	registry, err := tools.NewRegistry(tool)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, args, want, fails string }{
		{"mv", `{"files":["a","b"]}`, `{"from":"a","to":"b"}`, ""},
		{"move", `{"from":"a","to":"b"}`, `{"from":"a","to":"b"}`, ""},
		{"mv", `{"from":"a","to":"b"}`, "", "files"},
		{"mv", `{"files":"a"}`, "", "files"},
		{"mv", `{"files":["a"]}`, "", "two files"},
	} {
		entry, args, err := registry.Resolve(tt.name, json.RawMessage(tt.args), nil)
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s %s: error %v, want %q in it", tt.name, tt.args, err, tt.fails)
			}
			continue
		}
		if err == nil {
			err = entry.Validate(tools.NewArgs(args))
		}
		if err != nil || string(args) != tt.want {
			t.Errorf("%s %s: %s, %v; want %s", tt.name, tt.args, args, err, tt.want)
		}
	}
}

func TestPreviewing_Decodes(t *testing.T) {
	preview := tools.Previewing("a", func(_ context.Context, _ tools.Runtime, a pairArgs) ([]kinds.Content, error) {
		return []kinds.Content{kinds.Text{Text: a.Path}}, nil
	})
	shown, err := preview(t.Context(), nil, tools.NewArgs(`{"path":"x"}`))
	if err != nil || len(shown) != 1 || shown[0] != (kinds.Text{Text: "x"}) {
		t.Errorf("shown %v, %v", shown, err)
	}
	_, err = preview(t.Context(), nil, tools.NewArgs(`{"path":7}`))
	failure, ok := errors.AsType[*tools.Error](err)
	if !ok || failure.Kind != tools.BadInput || !strings.HasPrefix(failure.Message, "arguments of a: ") {
		t.Errorf("got %v, want a bad input that names the tool", err)
	}
}
