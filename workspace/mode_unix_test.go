//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// TestModes_SpecialBits keeps setgid and sticky over a write, a removal and
// their rollback. What was written never runs as its owner.
func TestModes_SpecialBits(t *testing.T) {
	t.Parallel()
	const bits = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	tests := []struct {
		name       string
		mode, want fs.FileMode
	}{
		{"setgid", 0o755 | fs.ModeSetgid, 0o755 | fs.ModeSetgid},
		{"sticky", 0o644 | fs.ModeSticky, 0o644 | fs.ModeSticky},
		{"setgid and sticky", 0o750 | fs.ModeSetgid | fs.ModeSticky, 0o750 | fs.ModeSetgid | fs.ModeSticky},
		{"all", 0o755 | bits, 0o755 | fs.ModeSetgid | fs.ModeSticky},
	}
	mode := func(t *testing.T, path string) fs.FileMode {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newFixture(t)
			path, gone := put(t, g.in("file"), "old"), put(t, g.in("gone"), "old")
			for _, name := range []string{path, gone} {
				if err := os.Chmod(name, tt.mode); err != nil || mode(t, name) != tt.mode {
					testreq.Skip(t, "setgid and sticky bits on files")
				}
			}
			f := g.call(t).FS()
			if err := f.WriteText(t.Context(), "file", "new", &tools.Text{Content: "old", Exists: true}); err != nil {
				t.Fatal(err)
			}
			same(t, "mode after the write", mode(t, path).String(), tt.want.String())
			if err := f.Remove(t.Context(), "gone", nil); err != nil {
				t.Fatal(err)
			}
			if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
				t.Fatal(failed)
			}
			for _, name := range []string{path, gone} {
				same(t, "content after the rollback", get(t, name), "old")
				same(t, "mode after the rollback", mode(t, name).String(), tt.want.String())
			}
		})
	}
}
