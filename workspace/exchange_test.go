package workspace

import (
	"os"
	"strings"
	"testing"

	"acp-agent/tools"
)

// replaceWith writes "ours" over the file "old" and calls meddle between the
// look at the file and the exchange.
func replaceWith(t *testing.T, g *ground, meddle func()) error {
	t.Helper()
	c := &change{files: files{g.call(t)}, text: "ours", before: &tools.Text{Content: "old", Exists: true}}
	return c.at(t.Context(), "write", "file", true, func(p *place) error {
		temp, err := c.writeTemp(p, c.body(nil))
		if err != nil {
			return err
		}
		defer temp.discard()
		return temp.replace(p, func(f *os.File) bool {
			ok := c.same(f)
			if meddle != nil {
				meddle()
				meddle = nil
			}
			return ok
		})
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		meddle func(path string)
		want   string
		fails  bool
	}{
		{"nothing happens", nil, "ours", false},
		{"saved by renaming", func(path string) { _ = savedOver(path, "person") }, "person", true},
		{"saved in place", func(path string) { _ = os.WriteFile(path, []byte("person"), 0o644) }, "person", true},
		{"saved as it was", func(path string) { _ = savedOver(path, "old") }, "ours", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGround(t)
			put(t, g.in("file"), "old")
			var meddle func()
			if tt.meddle != nil {
				meddle = func() { tt.meddle(g.in("file")) }
			}
			err := replaceWith(t, g, meddle)
			if got := get(t, g.in("file")); exchanges(t, g) {
				same(t, "content", got, tt.want)
				same(t, "failed", err != nil, tt.fails)
			}
			if err != nil && !strings.Contains(err.Error(), "changed since it was read") {
				t.Errorf("error %v", err)
			}
			noTemps(t, g)
		})
	}
	t.Run("deleted", func(t *testing.T) {
		g := newGround(t)
		put(t, g.in("file"), "old")
		if err := replaceWith(t, g, func() { _ = os.Remove(g.in("file")) }); err == nil && exchanges(t, g) {
			t.Error("a deleted file came back")
		}
		noTemps(t, g)
	})
}

// exchanges reports whether the file system can swap two names.
func exchanges(t *testing.T, g *ground) bool {
	t.Helper()
	put(t, g.in("x/a"), "a")
	put(t, g.in("x/b"), "b")
	dir, err := os.OpenRoot(g.in("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	return exchange(dir, "a", "b") == nil
}
