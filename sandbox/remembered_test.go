package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What was made of a file is kept while the file stays as it is, and only once its last
// change is old enough to differ from the next one by its time.
func TestRemembered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings")
	old := time.Now().Add(-time.Hour)
	put := func(name, text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var m remembered[string]
	asked := 0
	look := func(want string, times int) {
		t.Helper()
		before := asked
		got := m.of(path, func(path string) string {
			asked++
			text, err := os.ReadFile(path)
			if err != nil {
				return "none"
			}
			return string(text)
		})
		if got != want || asked-before != times {
			t.Errorf("got %q after %d looks, want %q after %d", got, asked-before, want, times)
		}
	}
	look("none", 1)
	put(path, "a", old)
	look("a", 1)
	look("a", 0)
	put(path, "b", old.Add(time.Minute)) // another time
	look("b", 1)
	look("b", 0)
	put(path, "bb", old.Add(time.Minute)) // another size
	look("bb", 1)
	put(filepath.Join(dir, "new"), "cc", old.Add(time.Minute))
	if err := os.Rename(filepath.Join(dir, "new"), path); err != nil { // another file
		t.Fatal(err)
	}
	look("cc", 1)
	look("cc", 0)
	put(path, "dd", time.Now().Add(time.Hour)) // too new
	look("dd", 1)
	look("dd", 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	look("none", 1)
}
