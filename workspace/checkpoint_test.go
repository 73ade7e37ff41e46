package workspace

import (
	"context"
	"os"
	"testing"

	"acp-agent/workspace/undo"
)

// command runs do between the two looks at the session's directories, as a command is run.
func (g *fixture) command(t testing.TB, do func()) {
	t.Helper()
	scan := g.History().Look(context.Background())
	do()
	scan.Changed(context.Background())
}

func TestUndoFrom(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, name := range []string{"kept", "edited", "rewritten", "gone", "moved", "sub/deep/file", "becomes/file", "mode"} {
		put(t, g.in(name), "old "+name)
	}
	link(t, "kept", g.in("link"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(g.in("empty"), 0o750))
	before := tree(t, g.cwd)
	g.History().Begin(t.Context(), "msg_1")
	c := g.call(t)
	must(c.FS().WriteText(t.Context(), "edited", "by a tool", nil))
	must(c.FS().WriteText(t.Context(), "made/by/tool", "new", nil))
	must(c.FS().Rename(t.Context(), "moved", "elsewhere/moved"))
	g.command(t, func() {
		must(os.WriteFile(g.in("rewritten"), []byte("by a command"), 0o600))
		must(os.WriteFile(g.in("edited"), []byte("and by a command"), 0o600))
		must(os.Remove(g.in("gone")))
		must(os.RemoveAll(g.in("sub")))
		must(os.RemoveAll(g.in("becomes")))
		must(os.WriteFile(g.in("becomes"), []byte("a file"), 0o644))
		must(os.Remove(g.in("link")))
		must(os.Symlink("gone", g.in("link")))
		must(os.Chmod(g.in("mode"), 0o755))
		must(os.Remove(g.in("empty")))
		must(os.MkdirAll(g.in("built/empty/dirs"), 0o755))
		must(os.WriteFile(g.in("built/out"), []byte{0, 1, 2}, 0o755))
	})
	after := tree(t, g.cwd)

	for range 2 {
		out, err := g.UndoFrom(t.Context(), 0, nil)
		must(err)
		same(t, "left", out.Left, []undo.Left(nil))
		same(t, "after the undo", tree(t, g.cwd), before)
		_, out, err = g.Redo(t.Context(), nil)
		must(err)
		same(t, "left by the redo", out.Left, []undo.Left(nil))
		same(t, "after the redo", tree(t, g.cwd), after)
	}
}
