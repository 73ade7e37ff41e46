package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/workspace/undo/journal"
)

func TestScan(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for _, name := range []string{"kept", "changed", "same size", "mode", "gone", "goneDir/a/x", "becomes/dir", "sub/.hidden", "tracked"} {
		put(t, g.in(name), "old")
	}
	put(t, g.in(".gitignore"), "build/\n*.log\n")
	put(t, g.in("build/out"), "old")
	put(t, g.in("sub/node_modules/x"), "old")
	put(t, g.in(".git/index"), "old")
	link(t, "kept", g.in("link"))
	c := g.call(t)
	scan := g.Look(t.Context())

	for _, name := range []string{"changed", "new", "newDir/a/x", "sub/.hidden", "x.log", "build/out", "build/new", "sub/node_modules/x", ".git/index"} {
		put(t, g.in(name), "longer")
	}
	if err := savedOver(g.in("same size"), "new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(g.in("mode"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gone", "goneDir", "becomes", "link"} {
		if err := os.RemoveAll(g.in(name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, g.in("becomes"), "file")
	link(t, "changed", g.in("link"))
	if err := c.FS().WriteText(t.Context(), "tracked", "ours", nil); err != nil {
		t.Fatal(err)
	}

	changes, skipped := scan.Changed(t.Context())
	var want []FileChange
	for _, change := range []FileChange{
		{"becomes", journal.Created},
		{"becomes/dir", journal.Deleted},
		{"changed", journal.Modified},
		{"gone", journal.Deleted},
		{"goneDir/a/x", journal.Deleted},
		{"link", journal.Modified},
		{"mode", journal.Modified},
		{"new", journal.Created},
		{"newDir/a/x", journal.Created},
		{"same size", journal.Modified},
		{"sub/.hidden", journal.Modified},
		{"x.log", journal.Created},
	} {
		want = append(want, FileChange{g.in(change.Path), change.Kind})
	}
	same(t, "changes", changes, want)
	same(t, "skipped", skipped, "not looked at: .git/, build/, sub/node_modules/")

	c.NoteScan(changes[:1])
	same(t, "modified", g.Modified("call_1"), []string{g.in("becomes"), g.in("tracked")})
	if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "what a scan found is left alone", get(t, g.in("becomes")), "file")
}

// TestScan_Cut looks at more than the bounds allow: what was not seen twice is
// not reported, and that is said.
func TestScan_Cut(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	put(t, g.in("a/file"), "old")
	for i := range 30 {
		for j := range 1000 {
			path := g.in(fmt.Sprintf("many/%02d/%04d", i, j))
			if j == 0 {
				put(t, path, "")
				continue
			}
			if err := os.Link(g.in(fmt.Sprintf("many/%02d/0000", i)), path); err != nil {
				put(t, path, "")
			}
		}
	}
	scan := g.Look(t.Context())
	put(t, g.in("a/file"), "longer")
	put(t, g.in("many/29/0000"), "longer")
	if err := os.RemoveAll(g.in("many/28")); err != nil {
		t.Fatal(err)
	}
	changes, skipped := scan.Changed(t.Context())
	same(t, "changes", changes, []FileChange{{g.in("a/file"), journal.Modified}})
	if !strings.HasPrefix(skipped, "not looked at: everything beyond ") {
		t.Errorf("skipped = %q", skipped)
	}
}

func TestScan_Stopped(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	put(t, g.in("file"), "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	scan := g.Look(ctx)
	put(t, g.in("file"), "longer")
	changes, skipped := scan.Changed(t.Context())
	if len(changes) > 0 || skipped == "" {
		t.Errorf("changes %v, skipped %q", changes, skipped)
	}
}

func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: dir}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close(0) })
	for b.Loop() {
		w.Look(b.Context()).Changed(b.Context())
	}
}
