package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// FuzzAnswerLines holds what must be true of any input: each line that is not blank is
// answered by one line of JSON with a verdict, in order, and a line that is not a call is
// never an allow.
func FuzzAnswerLines(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", `{"tool":"bash","args":{"cmd":"ls"}}`, "{\n}\n", "null\n[]\n1", `{"tool":"x"} {"tool":"y"}`, `{"tool":1}`, `{"tool":"x","extra":1}`,
		"\x00\n\xff", `{"tool":"x","args":` + strings.Repeat("[", 20000), "{\"tool\":\"x\"}\r\n{\"tool\":\"x\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		calls := 0
		var out bytes.Buffer
		err := answerLines(bytes.NewReader(text), &out, func(_ int, call judgedCall) (any, error) {
			if calls++; call.Tool == "" {
				return nil, errors.New("no tool")
			}
			return explained{Verdict: "allow"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want, got, allowed := 0, 0, 0
		for line := range bytes.Lines(text) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			var answer explained
			if err := json.Unmarshal(line, &answer); err != nil || answer.Verdict == "" {
				t.Fatalf("%q is no answer: %v", line, err)
			}
			if got++; answer.Verdict == "allow" {
				allowed++
			}
		}
		if got != want || allowed > calls {
			t.Errorf("%d lines have %d answers, %d of them for %d calls", want, got, allowed, calls)
		}
	})
}

// TestAnswerLines_Long answers a line that is too long, and the one after it.
func TestAnswerLines_Long(t *testing.T) {
	in := strings.NewReader(strings.Repeat("x", maxCallLine+1) + "\n" + `{"tool":"bash"}` + "\n")
	var out bytes.Buffer
	err := answerLines(in, &out, func(line int, _ judgedCall) (any, error) { return explained{Verdict: "allow", Line: line}, nil })
	first, second, _ := strings.Cut(out.String(), "\n")
	if err != nil || !strings.Contains(first, "longer than 8 MiB") || !strings.Contains(second, `"verdict":"allow"`) || !strings.Contains(second, `"line":2`) {
		t.Errorf("answered %q, %v", out.String(), err)
	}
}

func TestParseRule(t *testing.T) {
	tests := []struct{ text, want string }{
		{"deny bash(git push*)", "deny bash git push*"},
		{"deny:bash(git push*)", "deny bash git push*"},
		{"allow read", "allow read *"},
		{"ask  fs.write(src/**)", "ask fs.write src/**"},
		{"deny bash(a (b) c)", "deny bash a (b) c"},
		{"deny web_fetch(x:1)", "deny web_fetch x:1"},
		{"deny", ""},
		{"", ""},
		{"permit bash", ""},
		{"deny bash(x", ""},
		{"deny bash()", ""},
		{"deny teleport", ""},
		{"deny bash x", ""},
	}
	for _, tt := range tests {
		rule, err := parseRule(tt.text)
		got := ""
		if err == nil {
			told := ruleOf(rule, 0)
			got = told.Action + " " + told.Permission + " " + told.Pattern
		}
		if got != tt.want {
			t.Errorf("%q is %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestTellRule(t *testing.T) {
	rule, err := parseRule("deny bash")
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]explainedRule{
		"/u/config.jsonc:13:23":    {File: "/u/config.jsonc", Line: 13},
		`C:\u\config.jsonc:13:23`:  {File: `C:\u\config.jsonc`, Line: 13},
		"default":                  {Source: "default"},
		"the user's answer":        {Source: "the user's answer"},
		"note: 12":                 {Source: "note: 12"},
		"/u/odd:name/c.jsonc:1:20": {File: "/u/odd:name/c.jsonc", Line: 1},
	} {
		rule.Source = source
		if got := ruleOf(rule, 0); got.File != want.File || got.Line != want.Line || got.Source != want.Source {
			t.Errorf("%q is told as %+v", source, *got)
		}
	}
}
