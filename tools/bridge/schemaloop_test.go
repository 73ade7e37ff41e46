package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"acp-agent/tools/bridge"
)

// A schema against which no check would end is refused when the tool is added.
func TestSchema_Loops(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"itself", `{"$ref":"#"}`, "without end"},
		{"itself, in part", `{"allOf":[{"$ref":"#"}]}`, "#"},
		{"two in turn", `{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "without end"},
		{"under a condition", `{"$defs":{"a":{"if":{"type":"string"},"then":{"$ref":"#/$defs/a"}}}}`, "without end"},
		{"escaped", `{"$defs":{"a/b~c":{"dependentSchemas":{"x/y":{"$ref":"#/%24defs/a~1b~0c"}}}}}`, "without end"},
		{"an anchor", `{"$defs":{"a":{"$anchor":"here"}},"properties":{"x":{"$ref":"#here"}}}`, "not supported"},
		{"a dynamic one", `{"properties":{"x":{"$dynamicRef":"#"}}}`, "not supported"},
		{"another base", `{"properties":{"x":{"$id":"http://e/x","$ref":"#"}}}`, "$id"},
		{"doubling", doubling(26), "more than 10000 schemas"},
		{"plain data", `{"properties":{"x":{"enum":[{"$ref":"y"}],"default":{"$ref":"https://x/y"},"const":{"$id":"z"}}}}`, ""},
		{"a property called default", `{"properties":{"default":{"$ref":"#/properties/default"}}}`, "without end"},
		{"the schema's own name", `{"$id":"http://e/x","properties":{"left":{"$ref":"#"}}}`, ""},
		{"a tree", `{"properties":{"left":{"$ref":"#"},"more":{"items":{"$ref":"#"}}}}`, ""},
		{"a list", `{"properties":{"l":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"object","properties":{"next":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/l"}]}}}}}`, ""},
		{"twice the same", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"allOf":[{"$ref":"#/$defs/s"},{"$ref":"#/$defs/s"}]}},"$defs":{"s":{"type":"string"}}}`, ""},
		{"a property of that name", `{"properties":{"$ref":{"type":"string"}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			schema, err := bridge.Schema([]byte(tt.schema))
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				resolved, err := schema.Resolve(nil)
				if err == nil {
					err = resolved.Validate(map[string]any{"left": map[string]any{"left": map[string]any{}}})
				}
				if err != nil {
					t.Errorf("check: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Schema returned %v, want %q", err, tt.want)
			}
		})
	}
}

// doubling is a schema that refers to the next twice, n times over.
func doubling(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%[1]d":{"allOf":[{"$ref":"#/$defs/a%[2]d"},{"$ref":"#/$defs/a%[2]d"}]}`, i, i+1))
	}
	return fmt.Sprintf(`{"$defs":{%s,"a%d":{}},"properties":{"x":{"$ref":"#/$defs/a0"}}}`, strings.Join(defs, ","), n)
}
