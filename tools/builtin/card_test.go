package builtin

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/websearch"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// wantCard checks that the card of a result shows a text as it is and says something
// below it, each of which may be empty.
func wantCard(t *testing.T, result *tools.Result, shown, said string) {
	t.Helper()
	var parts []string
	if shown != "" {
		parts = append(parts, kinds.Fence("", shown))
	}
	if said != "" {
		parts = append(parts, said)
	}
	want := []kinds.Content{kinds.Text{Text: strings.Join(parts, "\n\n")}}
	if diff := cmp.Diff(want, result.Content); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
}

// What is written for the model alone, such as how to go on or whose words follow, does
// not stand on cards; paths of the project are short there.
func TestCards_AreForTheUser(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{
		Files: map[string]string{"a.go": "one\ntwo\nthree\n", "sub/b.go": "two\n", "empty": ""},
	})
	rt.Web = tooltest.NetFunc(func(_ context.Context, r tools.Request) (*tools.Response, error) {
		return &tools.Response{Status: http.StatusOK, URL: r.URL, ContentType: "text/plain", Body: []byte("page"), Cut: true}, nil
	})
	rt.Serve.Skills = oneSkill{}
	found := func(results ...websearch.Result) tools.Tool {
		return newWebSearch(one(func(context.Context, string, int) ([]websearch.Result, error) { return results, nil }))
	}
	tests := []struct {
		name        string
		tool        tools.Tool
		as, args    string
		shown, said string
	}{
		{"lines of a file", newRead(), "read", `{"path":"a.go","read_range":[1,2]}`, "1: one\n2: two", "More lines follow."},
		{"an empty file", newRead(), "read", `{"path":"empty"}`, "", "The file is empty."},
		{"files", newGlob(ripgrep{}), "glob", `{"filePattern":"**/*.go"}`, "a.go\nsub/b.go", ""},
		{"some files", newGlob(ripgrep{}), "glob", `{"filePattern":"**/*.go","limit":1}`, "a.go", "1 more."},
		{"no files", newGlob(ripgrep{}), "glob", `{"filePattern":"*.py"}`, "", "No files found."},
		{"hits", newGrep(ripgrep{}), "grep", `{"pattern":"two"}`, "a.go:2: two\nsub/b.go:1: two", ""},
		{"no hits", newGrep(ripgrep{}), "grep", `{"pattern":"four"}`, "", "No results."},
		{"a page", newWebFetch(), "web_fetch", `{"url":"https://example.com/"}`, "page", "The answer is longer than 4 bytes."},
		{"a skill", newSkill(), "skill", `{"name":"release"}`, "", "The agent has read the skill `release`."},
		{"results", found(websearch.Result{Title: "T", URL: "https://t.invalid/", Snippet: "S"}), "web_search", `{"query":"t"}`, "1. T\n   https://t.invalid/\n   S\n", ""},
		{"no results", found(), "web_search", `{"query":"t"}`, "", "No results."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := rt.Run(t.Context(), tt.tool, tt.as, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			wantCard(t, result, tt.shown, tt.said)
		})
	}
}

type oneSkill struct{}

func (oneSkill) Load(name string) (string, error) { return "<skill_content>" + name, nil }
