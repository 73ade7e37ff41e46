package regularfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/regularfile"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		limit int64
		want  string
	}{{"the whole file", 100, "content"}, {"its first bytes", 4, "cont"}} {
		if got, err := regularfile.Read(path, c.limit); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := regularfile.Read(dir, 100); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("of a directory: %v", err)
	}
	if _, err := regularfile.Read(filepath.Join(dir, "none"), 100); !os.IsNotExist(err) {
		t.Errorf("of no file: %v", err)
	}
}
