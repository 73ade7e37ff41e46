package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"acp-agent/internal/testkit/modeltest"
)

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		text = append(text, " CUT"...)
	}
	return res.StatusCode, string(text)
}

func TestServer_Steps(t *testing.T) {
	steps, err := modeltest.Read(strings.NewReader(`
# a comment
{"when": "beta", "text": "for beta"}
{"text": "ab", "pieces": 2, "usage": {"prompt_tokens": 1}}
{"calls": [{"name": "read", "arguments": "{\"a\":1}", "pieces": 2}], "repeat": 2}
{"status": 429, "header": {"Retry-After": "3"}, "body": "slow down"}
{"text": "abc", "pieces": 3, "cut": 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := modeltest.New(t, steps...)
	tests := []struct {
		name, body string
		status     int
		want       []string
	}{
		{"pieces", "alpha", 200, []string{`{"content":"a"}`, `{"content":"b"}`, `"finish_reason":"stop"`, `"usage":{"prompt_tokens":1}`, "[DONE]"}},
		{"when", "beta", 200, []string{"for beta"}},
		{"calls", "", 200, []string{`"id":"call_1"`, `"arguments":"{\"a"`, `"arguments":"\":1}"`, `"finish_reason":"tool_calls"`}},
		{"repeat", "", 200, []string{`"id":"call_1"`}},
		{"status", "", 429, []string{"slow down"}},
		{"cut", "", 200, []string{`"content":""`, `"content":"a"`, "CUT"}},
		{"none left", "", 400, []string{"no step is left"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, text := post(t, s.URL, tt.body)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in %s", want, text)
				}
			}
		})
	}
	if got := s.Requests(); len(got) != len(tests) || string(got[1].Body) != "beta" {
		t.Errorf("recorded %d requests", len(got))
	}
	if s.Left() != 0 {
		t.Errorf("%d steps left", s.Left())
	}
}

func TestRead_Errors(t *testing.T) {
	for _, text := range []string{`{"txt": "a"}`, `{"text": 1}`, `{} {}`, `{`} {
		if _, err := modeltest.Read(strings.NewReader("\n" + text)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
