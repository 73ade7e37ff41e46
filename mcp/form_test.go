package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"acp-agent/kinds"
)

// Whatever a server calls a form, what a user would be shown of it is bounded and visible.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":[1]},"b":{"type":"array","items":{"anyOf":[null]}}}}`))
	f.Add([]byte(`{"properties":{"a":{"type":"string","oneOf":[{"const":1}]},"b":null,"c":{"type":["string"]}},"required":["z"]}`))
	f.Add([]byte(`{"properties":{"a":{"type":"boolean","default":"yes"},"b":{"type":"integer","minimum":1e300}}}`))
	f.Add([]byte(`true`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var wanted any
		if json.Unmarshal(raw, &wanted) != nil {
			return
		}
		form, err := formOf(wanted)
		if err != nil {
			return
		}
		for _, field := range form.Fields {
			shown := []string{field.Name, field.Title}
			for _, option := range field.Options {
				shown = append(shown, option.Value, option.Title)
			}
			for _, text := range shown {
				if text == "" || kinds.Visible(text) != text || utf8.RuneCountInString(text) > maxValue || strings.Contains(text, "\n") {
					t.Errorf("%q is shown", text)
				}
			}
			if utf8.RuneCountInString(field.Description) > maxFieldText {
				t.Errorf("%q is shown", field.Description)
			}
		}
	})
}
