package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/model"
)

func TestRepairArguments(t *testing.T) {
	tests := []struct {
		name, args, want string // an empty want: not to be repaired
	}{
		{"valid", `{"a": 1}`, `{"a": 1}`},
		{"valid, nested string", `{"a": "{,}\"]"}`, `{"a": "{,}\"]"}`},
		{"space around", " {}\n", `{}`},
		{"empty", "", `{}`},
		{"space", " \n", `{}`},
		{"null", "null", `{}`},
		{"fence", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"fence without a language", "```\n{\"a\":1}\n```\n", `{"a":1}`},
		{"fence in one line", "```json{\"a\":1}```", `{"a":1}`},
		{"within a string", `"{\"a\":1}"`, `{"a":1}`},
		{"within a string, to be repaired", `"{\"a\":\"x\",}"`, `{"a":"x" }`},
		{"comma", `{"a":[1,2,], "b":"x" , }`, `{"a":[1,2 ], "b":"x"   }`},
		{"commas in strings", `{"a":",}",}`, `{"a":",}" }`},
		{"brace missing", `{"a":"x"`, `{"a":"x"}`},
		{"brace missing after a list", `{"a":[1]`, `{"a":[1]}`},
		{"brace missing after a word", `{"a":true `, `{"a":true}`},
		{"brace too many", `{"a":1}}`, `{"a":1}`},
		{"newline in a string", "{\"a\":\"x\ny\tz\"}", `{"a":"x\ny\tz"}`},
		{"BOM", "\uFEFF{}", `{}`},
		{"twice", `{"a":1}{"a":1}`, `{"a":1}`},
		{"after an empty one", `{}{"a":1}`, `{"a":1}`},
		{"before an empty one", `{"a":1}{}`, ``},

		{"a mark of the template after it", `{"a":1}<｜tool▁call▁end｜>`, `{"a":1}`},
		{"text after it", `{"a":1}<b> and more`, ``},
		{"a backslash that begins no escape", `{"a":"\d+\w","b":"x\ny"}`, `{"a":"\\d+\\w","b":"x\ny"}`},
		{"one among others", `{"a":"C:\path\new"}`, ``},

		{"two different", `{"a":1}{"a":2}`, ``},
		{"cut within a string", `{"a":"x`, ``},
		{"cut after a number", `{"a":1`, ``},
		{"cut after a comma", `{"a":"x",`, ``},
		{"cut after a colon", `{"a":`, ``},
		{"cut after a key", `{"a"`, ``},
		{"two braces missing", `{"a":{"b":"x"`, ``},
		{"bracket missing", `{"a":["x"`, ``},
		{"a value missing", `{"a":,"b":1}`, ``},
		{"two commas", `{"a":1,,"b":2}`, ``},
		{"single quotes", `{'a':1}`, ``},
		{"a list", `[1]`, ``},
		{"a number", `7`, ``},
		{"a text", `"x"`, ``},
		{"prose", `path is a.go`, ``},
		{"prose after", `{"a":1} and that is all`, ``},
		{"a string in a string", `"\"{}\""`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := model.RepairArguments(tt.args)
			want, repaired := tt.want, true
			if want == "" {
				want, repaired = tt.args, false
			}
			if got != want || ok != repaired {
				t.Errorf("got %q, %t", got, ok)
			}
		})
	}
}

func FuzzRepairArguments(f *testing.F) {
	for _, seed := range []string{`{"a":[1,],}`, "```json\n{}\n```", `"{\"a\":1}"`, `{"a":"x"`, "{}{}", "{\"a\":\"\n\"}", `{"a":true`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got, ok := model.RepairArguments(args)
		if !ok {
			if got != args {
				t.Errorf("%q was changed to %q", args, got)
			}
			return
		}
		if !json.Valid([]byte(got)) || !strings.HasPrefix(got, "{") {
			t.Errorf("%q became %q", args, got)
		}
		if again, ok := model.RepairArguments(got); !ok || again != got {
			t.Errorf("%q became %q and then %q", args, got, again)
		}
	})
}
