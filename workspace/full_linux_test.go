package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// smallDisk is a directory on a file system of its own that holds little.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testreq.Skip(t, "a small file system cannot be mounted: "+err.Error())
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestApply_FullDisk has a disk on which the new texts of a batch do not all find room:
// with each amount of room that there is, every file is the old one or every file the new.
func TestApply_FullDisk(t *testing.T) {
	for _, state := range []string{"elsewhere", "on the same disk"} {
		t.Run(state, func(t *testing.T) {
			disk := smallDisk(t, "1m")
			work := filepath.Join(disk, "work")
			dir := filepath.Join(disk, "state")
			if state == "elsewhere" {
				dir = filepath.Join(t.TempDir(), "state")
			}
			text := func(letter string) string { return strings.Repeat(letter, 100<<10) }
			old := map[string]string{"a": text("a"), "b": text("b"), "c": text("c")}
			var changes []tools.FileChange
			for name, letter := range map[string]string{"a": "A", "b": "B", "c": "C", "new": "N"} {
				before := &tools.Text{Content: old[name], Exists: old[name] != ""}
				changes = append(changes, tools.FileChange{Path: name, Text: new(text(letter)), Before: before})
			}
			done, refused := 0, 0
			for filler := 0; filler <= 800; filler += 50 {
				putAll(t, work, old)
				_ = os.Remove(filepath.Join(work, "new"))
				_ = os.Remove(filepath.Join(disk, "filler"))
				w, err := New(Options{SessionID: "ses", Directories: Directories{Cwd: work, State: dir}})
				if err != nil {
					t.Fatal(err)
				}
				// What does not fit fills the disk to the last byte.
				_ = os.WriteFile(filepath.Join(disk, "filler"), make([]byte, filler<<10), 0o600)
				c := w.Call("call_1", "apply_patch", nil)
				err = c.FS().Apply(t.Context(), changes)
				now := textsIn(t, work)
				w.Close(0)
				if err == nil {
					done++
					same(t, "new texts", len(now), 4)
					for name, got := range now {
						if got != text(strings.ToUpper(name[:1])) {
							t.Errorf("with a filler of %d KiB %s holds %.1s and %d bytes", filler, name, got, len(got))
						}
					}
					continue
				}
				refused++
				if !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("with a filler of %d KiB: %v", filler, err)
				}
				same(t, "old texts", now, old)
			}
			if done == 0 || refused == 0 {
				t.Errorf("%d batches found room, %d did not", done, refused)
			}
		})
	}
}
