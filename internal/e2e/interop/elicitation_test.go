//go:build unix

package interop

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// everythingForm is what the user fills in: a value for each kind of field that the
// server's form has, and nothing for one that has a default of its own.
var everythingForm = map[string]any{
	"name": "Ada Lovelace", "check": true, "email": "ada@example.com", "homepage": "https://ada.example/", "birthdate": "1815-12-10",
	"integer": 7, "number": 2.5, "untitledSingleSelectEnum": "Phoebe", "untitledMultipleSelectEnum": []any{"Piano", "Drums"},
	"titledSingleSelectEnum": "hero-3", "titledMultipleSelectEnum": []any{"fish-2"}, "legacyTitledEnum": "pet-5",
}

// everythingInputs is what the server makes of it.
const everythingInputs = `User inputs:
- Name: Ada Lovelace
- Agreed to terms: true
- Email: ada@example.com
- Homepage: https://ada.example/
- Birthdate: 1815-12-10
- Favorite Integer: 7
- Favorite Number: 2.5
`

// interopElicitation is what the user is asked for a server.
type interopElicitation struct {
	Mode       string `json:"mode"`
	Message    string `json:"message"`
	URL        string `json:"url"`
	ToolCallID string `json:"toolCallId"`
	Schema     struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	} `json:"requestedSchema"`
}

// everythingAsked checks what the user was asked for the server, each for its call, and
// that what they filled in has come to it as it was.
func (r *interopServersRun) everythingAsked() {
	r.Helper()
	type question struct{ Mode, Tool, Message, URL string }
	var got []question
	messages := r.report.messages(r.T, "agent")
	for _, i := range slices.Sorted(maps.Keys(messages)) {
		if messages[i].Method != "elicitation/create" {
			continue
		}
		asked := messages[i].Params.interopElicitation
		at := slices.IndexFunc(r.calls, func(c *interopCall) bool { return c.id == asked.ToolCallID })
		if at < 0 || i < r.calls[at].started || r.calls[at].ended < i {
			r.Errorf("line %d: the person is asked for the call %q, which does not run", i, asked.ToolCallID)
			continue
		}
		got = append(got, question{asked.Mode, r.calls[at].name, asked.Message, asked.URL})
		for field := range everythingForm {
			if asked.Mode == "form" && asked.Schema.Properties[field] == nil {
				r.Errorf("the form has no field %s", field)
			}
		}
	}
	want := []question{
		{"form", r.id("trigger-elicitation-request"), "The MCP server everything asks: Please provide inputs for the following fields:", ""},
		{"url", r.id("trigger-url-elicitation"), "The MCP server everything wants you to open an address at pay.example: Pay there.", "https://pay.example/42"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("asked (-want +got):\n%s", diff)
	}
	r.everythingFilled()
}

// everythingFilled holds what the server got of the form against what was filled in.
func (r *interopServersRun) everythingFilled() {
	r.Helper()
	for _, c := range r.callsIn(0) {
		if c.name != r.id("trigger-elicitation-request") {
			continue
		}
		text, _ := c.data.(string)
		_, raw, _ := strings.Cut(text, "Raw result: ")
		var got struct {
			Action  string
			Content map[string]any
		}
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			r.Fatalf("the server says %q: %v", text, err)
		}
		want := maps.Clone(everythingForm)
		want["integer"] = 7.0                                 // as JSON has it here
		want["firstLine"] = "It was a dark and stormy night." // the library's doing
		if diff := cmp.Diff(want, got.Content); diff != "" || got.Action != "accept" {
			r.Errorf("the server got the answer %q (-filled in +got):\n%s", got.Action, diff)
		}
	}
}
