package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/tools"
)

// M4, R90: a schema from elsewhere that would keep the check of arguments busy without end
// is refused, wherever it comes from, and the agent lives on.
func TestNewRegistry_EndlessSchemas(t *testing.T) {
	deep := `{"type":"object","not":` + strings.Repeat(`{"not":`, 300) + "{}" + strings.Repeat("}", 300) + "}"
	for name, schema := range map[string]string{
		"refers to itself":            `{"type":"object","$ref":"#"}`,
		"holds itself":                `{"type":"object","allOf":[{"$ref":"#"}]}`,
		"is not itself":               `{"type":"object","not":{"$ref":"#"}}`,
		"refers by a dynamic name":    `{"type":"object","$dynamicRef":"#"}`,
		"two refer to each other":     `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}`,
		"doubles at each of 30 steps": doubling(30),
		"lies deep":                   deep,
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{tools.MCP, tools.Provider, tools.Toolbox, tools.Module} {
				var parameters jsonschema.Schema
				if err := json.Unmarshal([]byte(schema), &parameters); err != nil {
					t.Fatal(err)
				}
				tool := tools.Tool{
					Spec: tools.Spec{ID: "mcp__s__t", Description: "D.", Parameters: &parameters, Source: tools.Source{Kind: kind, Server: "s"}},
					Run:  func(context.Context, tools.Runtime, tools.Args) (*tools.Result, error) { return nil, nil },
				}
				if _, err := tools.NewRegistry(tool); err == nil {
					t.Errorf("%s: it is registered", kind)
				}
			}
		})
	}
}

// doubling is a schema that holds a value against two to the power of steps schemas.
func doubling(steps int) string {
	var defs []string
	for i := range steps {
		next := string(rune('b' + i))
		defs = append(defs, `"`+string(rune('a'+i))+`":{"allOf":[{"$ref":"#/$defs/`+next+`"},{"$ref":"#/$defs/`+next+`"}]}`)
	}
	defs = append(defs, `"`+string(rune('a'+steps))+`":{}`)
	return `{"type":"object","properties":{"v":{"$ref":"#/$defs/a"}},"$defs":{` + strings.Join(defs, ",") + "}}"
}
