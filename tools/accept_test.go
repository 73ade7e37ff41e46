package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/tools"

	"github.com/google/jsonschema-go/jsonschema"
)

func accepting(s *tools.Spec) {
	s.Parameters = &jsonschema.Schema{
		Type: "object", Required: []string{"path"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Properties: map[string]*jsonschema.Schema{
			"path": {Type: "string"}, "count": {Type: "integer"}, "deep": {Type: "boolean"},
			"tags": {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		},
	}
	s.Accepts = &tools.Accepts{
		Names: []tools.ForeignName{{Name: "shell"}, {Name: "editor", When: map[string]string{"command": "view"}}, {Name: "gone", Answer: "do it by hand"}},
		Fields: map[string]tools.Field{
			"file": {To: "path"}, "note": {Drop: "it has no effect"}, "later": {Neutral: []any{false}, Refuse: "not later"},
		},
		Sole: "path",
	}
}

func TestEntry_Accept(t *testing.T) {
	t.Parallel()
	registry, err := tools.NewRegistry(sample("look", accepting))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, args, want, left, fails string }{
		{"what fits stays as it is", `{ "path" : "<a>" }`, `{ "path" : "<a>" }`, "", ""},
		{"another spelling", `{"Path":"a"}`, `{"path":"a"}`, "", ""},
		{"a foreign name", `{"file":"a"}`, `{"path":"a"}`, "", ""},
		{"two names, two values", `{"file":"a","path":"b"}`, "", "", "different values"},
		{"two names, one value", `{"file":"a","path":"a"}`, `{"path":"a"}`, "", ""},
		{"shapes", `{"path":"a","count":"12","deep":"True","tags":"x"}`, `{"count":12,"deep":true,"path":"a","tags":["x"]}`, "", ""},
		{"a list in a text", `{"path":"a","tags":"[\"x\",\"y\"]"}`, `{"path":"a","tags":["x","y"]}`, "", ""},
		{"no number", `{"path":"a","count":"12 or so"}`, `{"path":"a","count":"12 or so"}`, "", ""},
		{"a large number keeps its digits", `{"file":"a","count":9007199254740993}`, `{"count":9007199254740993,"path":"a"}`, "", ""},
		{"null for absent", `{"path":"a","count":null}`, `{"path":"a"}`, "", ""},
		{"null for what is required", `{"path":null}`, `{"path":null}`, "", ""},
		{"left out", `{"path":"a","note":"x"}`, `{"path":"a"}`, "note (it has no effect)", ""},
		{"a value that says nothing", `{"path":"a","later":false}`, `{"path":"a"}`, "", ""},
		{"one that does", `{"path":"a","later":true}`, "", "", `"later": not later`},
		{"never in the background", `{"path":"a","run_in_background":true}`, "", "", "run_in_background"},
		{"all in a text", `"{\"path\":\"a\"}"`, `{"path":"a"}`, "", ""},
		{"a bare text", `"a b"`, `{"path":"a b"}`, "", ""},
		{"an envelope", `{"arguments":{"file":"a"}}`, `{"path":"a"}`, "", ""},
		{"an envelope of another tool", `{"name":"other","arguments":{"file":"a"}}`, `{"arguments":{"file":"a"},"name":"other"}`, "", ""},
		{"a list of one", `[{"path":"a"}]`, `{"path":"a"}`, "", ""},
		{"a list of two", `[{"path":"a"},{"path":"b"}]`, `[{"path":"a"},{"path":"b"}]`, "", ""},
		{"an unknown argument stays", `{"path":"a","colour":"red"}`, `{"path":"a","colour":"red"}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entry, _ := registry.Get("look")
			got, left, err := entry.Accept("look", json.RawMessage(tt.args))
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got %s, %v; want an error with %q", got.Raw(), err, tt.fails)
				}
				return
			}
			if err != nil || !sameObject(string(got.Raw()), tt.want) || strings.Join(left, "; ") != tt.left {
				t.Errorf("got %s, %q, %v; want %s, %q", got.Raw(), left, err, tt.want, tt.left)
			}
		})
	}
}

// sameObject compares texts, or objects whose members stand in another order.
func sameObject(a, b string) bool {
	var x, y any
	if a == b {
		return true
	}
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return string(left) == string(right)
}

// A name of another agent counts only where no tool has it.
func TestRegistry_ForeignNames(t *testing.T) {
	t.Parallel()
	registry, err := tools.NewRegistry(sample("look", accepting))
	if err != nil {
		t.Fatal(err)
	}
	own, refused := registry.With(sample("shell"))
	if len(refused) > 0 {
		t.Fatalf("a tool of the name shell is refused: %v", refused)
	}
	for _, tt := range []struct {
		registry        *tools.Registry
		name, args      string
		tool, got, fail string
	}{
		{registry, "shell", `{"path":"a"}`, "look", `{"path":"a"}`, ""},
		{own, "shell", `{"path":"a"}`, "shell", `{"path":"a"}`, ""},
		{registry, "LOOK", `{"path":"a"}`, "look", `{"path":"a"}`, ""},
		{registry, "functions.look:3", `{"path":"a"}`, "look", `{"path":"a"}`, ""},
		{registry, "look<|channel|>commentary", `{"path":"a"}`, "look", `{"path":"a"}`, ""},
		{registry, "looklook", `{"path":"a"}`, "look", `{"path":"a"}`, ""},
		{registry, "editor", `{"command":"view","path":"a"}`, "look", `{"path":"a"}`, ""},
		{registry, "editor", `{"command":"create","path":"a"}`, "", "", "not clear from the arguments"},
		{registry, "gone", `{}`, "", "", "do it by hand"},
		{registry, "lookup", `{}`, "", "", "unknown tool"},
	} {
		entry, args, err := tt.registry.Resolve(tt.name, json.RawMessage(tt.args), nil)
		if tt.fail != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fail) {
				t.Errorf("%s %s: got %v, want an error with %q", tt.name, tt.args, err, tt.fail)
			}
			continue
		}
		if err != nil || entry.ID != tt.tool || string(args) != tt.got {
			t.Errorf("%s %s: got %v %s, %v; want %s %s", tt.name, tt.args, entry, args, err, tt.tool, tt.got)
		}
	}
}
