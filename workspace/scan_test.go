package workspace

import (
	"os"
	"testing"

	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/journal"
)

func TestScan(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, name := range []string{"kept", "changed", "same size", "mode", "gone", "goneDir/a/x", "becomes/dir", "sub/.hidden", "tracked"} {
		put(t, g.in(name), "old")
	}
	put(t, g.in(".gitignore"), "build/\n*.log\n")
	put(t, g.in("build/out"), "old")
	put(t, g.in("sub/node_modules/x"), "old")
	put(t, g.in(".git/index"), "old")
	link(t, "kept", g.in("link"))
	c := g.call(t)
	scan := g.History().Look(t.Context())

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
	var want []undo.FileChange
	for _, change := range []undo.FileChange{
		{Path: "becomes", Kind: journal.Created},
		{Path: "becomes/dir", Kind: journal.Deleted},
		{Path: "changed", Kind: journal.Modified},
		{Path: "gone", Kind: journal.Deleted},
		{Path: "goneDir/a/x", Kind: journal.Deleted},
		{Path: "link", Kind: journal.Modified},
		{Path: "mode", Kind: journal.Modified},
		{Path: "new", Kind: journal.Created},
		{Path: "newDir/a/x", Kind: journal.Created},
		{Path: "same size", Kind: journal.Modified},
		{Path: "sub/.hidden", Kind: journal.Modified},
		{Path: "x.log", Kind: journal.Created},
	} {
		want = append(want, undo.FileChange{Path: g.in(change.Path), Kind: change.Kind})
	}
	for i := range changes {
		changes[i].Before, changes[i].After = nil, nil
	}
	same(t, "changes", changes, want)
	same(t, "skipped", skipped, "not looked at: .git/, build/, sub/node_modules/")

	c.NoteScan(changes[:1])
	same(t, "modified", g.History().Modified("call_1"), []string{g.in("becomes"), g.in("tracked")})
	if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "what a scan found is left alone", get(t, g.in("becomes")), "file")
}
