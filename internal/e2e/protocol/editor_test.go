package protocol

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// TestRobust_EditorAnswers is an editor whose answers cannot be relied on: what cannot be
// understood is not replaced by the disk's text, a text that it drops is not reported as
// written, and one that it makes another of is told.
func TestRobust_EditorAnswers(t *testing.T) {
	const read, write = "fs/read_text_file", "fs/write_text_file"
	edit := `{"name": "edit", "args": {"path": "f.txt", "old_str": "old", "new_str": "new"}}`
	tests := []struct {
		name, method, call string
		answer             string // JSON
		disk               string // what the editor saves; empty saves nothing
		status, says       string
		want               string
	}{
		{"no content", read, edit, `{}`, "", "failed", "it has no content; nothing is known of unsaved changes", "old\n"},
		{"null", read, edit, `null`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"content is null", read, edit, `{"content": null}`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"a number", read, edit, `{"content": 5}`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"a list", read, edit, `["old\n"]`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"a number, to read", read, `{"name": "read", "args": {"path": "f.txt"}}`, `{"content": 5}`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"a number, to write", read, `{"name": "write", "args": {"path": "f.txt", "content": "new"}}`, `{"content": 5}`, "", "failed", "nothing is known of unsaved changes", "old\n"},
		{"dropped", write, edit, `{}`, "", "failed", "are what they were before", "old\n"},
		{"formatted", write, edit, `{}`, "new;\n", "completed", "now holds another text", "new;\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "f.txt")
			if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			files := &acptest.Files{Answer: func(m *acptest.Message) (any, bool) {
				if m.Method != tt.method {
					return nil, false
				}
				if tt.disk != "" {
					if err := os.WriteFile(path, []byte(tt.disk), 0o600); err != nil {
						t.Error(err)
					}
				}
				return json.RawMessage(tt.answer), true
			}}
			agent := acptest.Start(t, acptest.Options{
				Model: `{"call": [` + tt.call + `]}` + "\n" + `{"say": "Done."}`, Files: files, Unjudged: true,
				Permission: acptest.Answer("allow_once"),
			})
			agent.Initialize(`{"fs": {"readTextFile": true, "writeTextFile": true}}`)
			agent.NewSession(dir).Prompt("go").Ends("end_turn")
			var last *acptest.Message
			for _, line := range agent.Lines() {
				if m, err := acptest.Parse([]byte(line.Raw)); err == nil && line.FromAgent && m.Get("update.status") == tt.status {
					last = m
				}
			}
			if last == nil {
				t.Fatalf("no call is %s", tt.status)
			}
			said, err := json.Marshal(last.Get("update"))
			if err != nil {
				t.Fatal(err)
			}
			if tt.status == "failed" && !strings.Contains(string(said), tt.says) {
				t.Errorf("the call says %s, want %q", said, tt.says)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.want {
				t.Errorf("the disk holds %q, %v", text, err)
			}
		})
	}
}
