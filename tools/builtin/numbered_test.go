package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/tools/tooltest"
)

// Line numbers as read shows them are no part of the text that is replaced.
func TestEdit_Numbered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, old, new, want string }{
		{"on both sides", "a\n\tb\nc\n", "2: \tb\n3: c", "2: \tB\n3: c", "a\n\tB\nc\n"},
		{"on the old text alone", "a\n\tb\nc\n", "2: \tb", "\tB", "a\n\tB\nc\n"},
		{"with a tab", "a\nb\n", "     2\tb", "     2\tB", "a\nB\n"},
		{"part of the file", "1: a\n2: b\n", "1: a", "1: A", "1: A\n2: b\n"},
		{"CRLF", "a\r\nb\r\n", "1: a\n2: b", "1: a\n2: B", "a\r\nB\r\n"},
		{"not unique", "b\nb\n", "1: b", "1: B", ""},
		{"numbers that do not count up", "a\nb\n", "1: a\n7: b", "x", ""},
		{"new lines partly numbered", "a\nb\n", "1: a\n2: b", "1: a\nB", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"f": tt.file}})
			args, err := json.Marshal(map[string]any{"path": "f", "old_str": tt.old, "new_str": tt.new})
			if err != nil {
				t.Fatal(err)
			}
			_, err = rt.Run(t.Context(), tool(t, "edit"), "edit", string(args))
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), "old_str") {
					t.Errorf("got %v, want a miss", err)
				}
				tt.want = tt.file
			} else if err != nil {
				t.Fatal(err)
			}
			if got, err := rt.FS().ReadText(t.Context(), rt.Session().Abs("f")); err != nil || got.Content != tt.want {
				t.Errorf("the file holds %q, %v; want %q", got.Content, err, tt.want)
			}
		})
	}
}
