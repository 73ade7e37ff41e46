package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/tools/tooltest"
)

// foreign is a tool in Amplifier's shape without a schema.
type foreign struct {
	run func(input json.RawMessage) (bridge.AmplifierResult, error)
}

func (foreign) Name() string        { return "my_tool" }
func (foreign) Description() string { return "Performs an action." }
func (f foreign) Execute(_ context.Context, input json.RawMessage) (bridge.AmplifierResult, error) {
	return f.run(input)
}

// described is one with a schema.
type described struct {
	foreign
	schema string
}

func (d described) InputSchema() json.RawMessage { return json.RawMessage(d.schema) }

// R7, trap 62: a tool without schema is a tool.
func TestFromAmplifier_Schema(t *testing.T) {
	t.Parallel()
	echo := foreign{func(input json.RawMessage) (bridge.AmplifierResult, error) {
		return bridge.AmplifierResult{Success: true, Output: input}, nil
	}}
	for name, foreign := range map[string]bridge.AmplifierTool{
		"no schema": echo, "empty": described{echo, `{}`}, "null": described{echo, `null`}, "nil": described{echo, ``},
		"no type": described{echo, `{"properties":{"a":{"type":"integer"}}}`},
	} {
		tool, err := bridge.FromAmplifier(foreign)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		result, err := tooltest.New(tooltest.Options{}).Run(t.Context(), tool, "my_tool", `{"a":12345678901234567890}`)
		if err != nil || result.ModelText() != `{"a":12345678901234567890}` {
			t.Errorf("%s: got %+v, %v", name, result, err)
		}
	}
	for name, schema := range map[string]string{"array": `[]`, "string": `{"type":"string"}`, "broken": `{"type":"object","properties":{"a":{"pattern":"("}}}`} {
		if _, err := bridge.FromAmplifier(described{echo, schema}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// keyError is an error with a name of its own.
type keyError struct{}

func (keyError) Error() string { return "no such key" }

func TestFromAmplifier_Failures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		run     func(json.RawMessage) (bridge.AmplifierResult, error)
		message string
		typ     string
	}{
		{"said", func(json.RawMessage) (bridge.AmplifierResult, error) {
			return bridge.AmplifierResult{Error: map[string]any{"message": "required_param is required", "type": "ValueError"}}, nil
		}, "required_param is required", "ValueError"},
		{"error", func(json.RawMessage) (bridge.AmplifierResult, error) { return bridge.AmplifierResult{}, keyError{} }, "no such key", "bridge_test.keyError"},
		{"panic", func(json.RawMessage) (bridge.AmplifierResult, error) { panic(keyError{}) }, "tool my_tool panicked: no such key", "bridge_test.keyError"},
		{"nothing said", func(json.RawMessage) (bridge.AmplifierResult, error) { return bridge.AmplifierResult{}, nil }, "the tool failed and did not say why", ""},
		{"no JSON", func(json.RawMessage) (bridge.AmplifierResult, error) {
			return bridge.AmplifierResult{Success: true, Output: func() {}}, nil
		}, "the tool's result is no JSON", "*json.UnsupportedTypeError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tool, err := bridge.FromAmplifier(foreign{tt.run})
			if err != nil {
				t.Fatal(err)
			}
			_, err = tooltest.New(tooltest.Options{}).Run(t.Context(), tool, "my_tool", `{}`)
			var failure *tools.Error
			if !errors.As(err, &failure) || !strings.HasPrefix(failure.Message, tt.message) {
				t.Fatalf("got %v, want %q", err, tt.message)
			}
			var cause *bridge.Foreign
			if errors.As(err, &cause); tt.typ != "" && (cause == nil || cause.Type != tt.typ) {
				t.Errorf("cause = %+v, want type %q", cause, tt.typ)
			}
		})
	}
}

type silent struct{ bridge.AmplifierTool }

func (silent) Name() string { panic("no name") }

func TestFromAmplifier_Panics(t *testing.T) {
	t.Parallel()
	if _, err := bridge.FromAmplifier(silent{}); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("got %v", err)
	}
}

type needs struct {
	Required string `json:"required_param" jsonschema:"what is needed"`
}

func TestToAmplifier(t *testing.T) {
	t.Parallel()
	run := func(_ context.Context, _ tools.Runtime, a needs) (*tools.Result, error) {
		switch a.Required {
		case "panic":
			panic(keyError{})
		case "missing":
			return nil, &tools.Error{Kind: tools.BadInput, Code: "c", Path: "/w/a", Message: "m"}
		}
		return &tools.Result{Data: map[string]string{"got": a.Required}, TrackFiles: []string{"/w/a"}}, nil
	}
	tool, err := bridge.ToAmplifier(tools.Define(tools.Spec{ID: "my_tool", Description: "x"}, run), tooltest.New(tooltest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, input, want string }{
		{"success", `{"required_param":"x"}`, `{"success":true,"output":{"got":"x"},"metadata":{"track_files":["/w/a"]}}`},
		{"argument missing", `{}`, `{"success":false,"output":null,"error":{"message":"my_tool: required argument \"required_param\" is missing"},"metadata":{"kind":"bad_input"}}`},
		{"no JSON", `{`, ``},
		{"failure", `{"required_param":"missing"}`, `{"success":false,"output":null,"error":{"absolutePath":"/w/a","errorCode":"c","message":"m"},"metadata":{"kind":"bad_input"}}`},
		{"panic", `{"required_param":"panic"}`, `{"success":false,"output":null,"error":{"message":"tool my_tool panicked: no such key","type":"bridge_test.keyError"},"metadata":{"kind":"backend"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := tool.Execute(t.Context(), json.RawMessage(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if result.Success {
					t.Errorf("got %s", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("result (-want +got)\n%s", diff)
			}
		})
	}
	if _, err := bridge.ToAmplifier(tools.Tool{}, nil); err == nil {
		t.Error("a tool without a name was taken")
	}
}
