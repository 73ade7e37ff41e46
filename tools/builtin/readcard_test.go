package builtin_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools/tooltest"
)

// A picture is shown as such; of text, the adapter shows what the model reads.
func TestRead_CardContent(t *testing.T) {
	t.Parallel()
	const gif = "GIF89a\x01\x00"
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.gif": gif, "a.txt": "one\n", "sub/b": ""}})
	tests := []struct {
		path string
		want []kinds.Content
	}{
		{"a.gif", []kinds.Content{kinds.Image{MediaType: "image/gif", Data: base64.StdEncoding.EncodeToString([]byte(gif))}}},
		{"a.txt", nil},
		{"sub", nil},
	}
	for _, tt := range tests {
		result := run(t, rt, "read", map[string]any{"path": tt.path})
		if diff := cmp.Diff(tt.want, result.Content); diff != "" {
			t.Errorf("content of %s (-want +got):\n%s", tt.path, diff)
		}
	}
}

// A listing is one name a line, and says so when there is none to show.
func TestRead_DirectoryReadsWell(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"src/a.go": "", "src/lib/b": "", "src/c d.txt": ""}})
	rt.Mem.Mkdir("empty")
	tests := []struct {
		name       string
		args       map[string]any
		text, data string
	}{
		{"entries", map[string]any{"path": "src"}, "a.go\nc d.txt\nlib/", "a.go\nc d.txt\nlib/"},
		{"page", map[string]any{"path": "src", "read_range": []int{2, 2}}, "c d.txt\n\n[more entries follow; continue with read_range [3, 2002]]", "c d.txt"},
		{"empty", map[string]any{"path": "empty"}, "[the directory is empty]", ""},
		{"past the end", map[string]any{"path": "src", "read_range": []int{7, 9}}, "[the directory has 3 entries, none in the range asked for]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := run(t, rt, "read", tt.args)
			if diff := cmp.Diff([]any{tt.text, tt.data}, []any{result.ModelText(), result.Data}); diff != "" {
				t.Errorf("text and data (-want +got):\n%s", diff)
			}
		})
	}
}
