package workspace

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestWriteText_Order holds the steps of a write that must survive a power failure: the
// new text is on disk before it takes the name, and then the name is (P2).
func TestWriteText_Order(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // the pre-image is made concurrently
	var steps []string
	g := newFixture(t, func(o *Options) {
		o.fault = func(step string) error {
			mu.Lock()
			steps = append(steps, step)
			mu.Unlock()
			if text, err := os.ReadFile(filepath.Join(o.Directories.Cwd, "file")); step != "syncdir" && (err != nil || string(text) != "old") {
				t.Errorf("before %s the file holds %q, %v", step, text, err)
			}
			return nil
		}
	})
	put(t, g.in("file"), "old")
	if err := g.call(t).FS().WriteText(t.Context(), "file", "new", nil); err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, step := range steps {
		switch step {
		case "create", "write", "chmod", "sync", "rename", "syncdir":
			own = append(own, step)
		}
	}
	same(t, "steps", own, []string{"create", "write", "chmod", "sync", "rename", "syncdir"})
	same(t, "content", get(t, g.in("file")), "new")
}
