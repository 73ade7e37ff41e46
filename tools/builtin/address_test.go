package builtin_test

import (
	"strings"
	"testing"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// The user and password in the address of a remote come out neither by a search, which
// would tell them a character at a time, nor by a part of the line.
func TestAddress_NotInPieces(t *testing.T) {
	files := map[string]string{".gitmodules": "url = https://u:hunter2hunter2@example.com/x.git\n", "sub/a.txt": "hunter2\n"}
	for _, arguments := range []map[string]any{
		{"pattern": "hunter", "path": ".gitmodules"}, {"pattern": "hunter", "glob": ".gitmodules"}, {"pattern": "hunter", "glob": ".*"},
	} {
		if result := run(t, tooltest.New(tooltest.Options{Files: files}), "grep", arguments); strings.Contains(result.Text, "example.com") || !strings.Contains(result.Text, "[1 files that hold secrets were not searched]") {
			t.Errorf("grep %v: %s", arguments, result.Text)
		}
	}
	failure := fail(t, tooltest.New(tooltest.Options{Files: files}), "read", map[string]any{"path": ".gitmodules", "byte_range": []int{14, 20}})
	if failure.Kind != tools.BadInput || !strings.Contains(failure.Hint, "read_range") {
		t.Errorf("%+v", failure)
	}
	if result := run(t, tooltest.New(tooltest.Options{Files: files}), "read", map[string]any{"path": "sub/a.txt", "byte_range": []int{0, 6}}); !strings.HasPrefix(result.Text, "hunter") {
		t.Errorf("%s", result.Text)
	}
}
