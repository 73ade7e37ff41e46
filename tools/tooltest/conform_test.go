package tooltest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

type greeting struct {
	Name string `json:"name" jsonschema:"who is greeted"`
}

func greet(context.Context, tools.Runtime, greeting) (*tools.Result, error) {
	return tools.Output("hello"), nil
}

// recorder is a T that remembers.
type recorder struct{ failures int }

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { r.failures++ }

func TestCheck(t *testing.T) {
	t.Parallel()
	sound := tools.Spec{ID: "greet", Description: "Greet.", Kind: kinds.Other}
	change := func(f func(*tools.Spec)) tools.Tool {
		spec := sound
		f(&spec)
		return tools.Define(spec, greet)
	}
	tests := []struct {
		name, mention string
		tool          tools.Tool
	}{
		{"sound", "", tools.Define(sound, greet)},
		{"bad name", "snake_case", change(func(s *tools.Spec) { s.ID = "Skill" })},
		{"no description", "description is missing", change(func(s *tools.Spec) { s.Description = " " })},
		{"no kind", "no kind", change(func(s *tools.Spec) { s.Kind = "" })},
		{"serial with keys", "keys are never read", change(func(s *tools.Spec) {
			s.Profile = &tools.Profile{Serial: true, Keys: func(tools.Args, tools.Env) []tools.ResourceKey { return nil }}
		})},
		{"argument without description", `"name" has no description`, change(func(s *tools.Spec) {
			s.Parameters = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}}}
		})},
		{"pure function panics", "panic with", change(func(s *tools.Spec) {
			s.Resources = func(args tools.Args, _ tools.Env) []tools.Resource {
				return []tools.Resource{{Value: string(args.Raw()[:1])}}
			}
		})},
		{"a card that hides something", "its card", change(func(s *tools.Spec) {
			s.Describe = func(tools.Args, kinds.Place) kinds.Card { return kinds.Card{Kind: "sparkle"} }
		})},
		{"preprocessing panics", "panic", change(func(s *tools.Spec) {
			s.Preprocess = func(map[string]any, tools.Env) error { panic("no") }
		})},
		{"run panics", "panicked", tools.Define(sound, func(context.Context, tools.Runtime, greeting) (*tools.Result, error) { panic("no") })},
		{"runs when cancelled", "although the call was cancelled", tools.Define(sound,
			func(_ context.Context, rt tools.Runtime, _ greeting) (*tools.Result, error) {
				err := rt.FS().WriteText(context.Background(), "x", "y", nil)
				return tools.Output("written"), err
			})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			problems := tooltest.Check(tt.tool)
			found := slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tt.mention) })
			if tt.mention == "" && len(problems) > 0 || tt.mention != "" && !found {
				t.Errorf("problems = %q, want one with %q", problems, tt.mention)
			}
			r := &recorder{}
			if tooltest.Conform(r, tt.tool); r.failures != len(problems) {
				t.Errorf("Conform fails %d times, want %d", r.failures, len(problems))
			}
		})
	}
}
