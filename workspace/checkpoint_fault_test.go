package workspace

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/workspace/undo"
)

// turn is a turn that changes each kind of file in each way.
func (g *fixture) turn(t *testing.T) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g.History().Begin(t.Context(), "msg_1")
	g.command(t, func() {
		must(os.WriteFile(g.in("text"), []byte("by a command"), 0o644))
		must(os.Remove(g.in("binary")))
		must(os.RemoveAll(g.in("sub")))
		must(os.Remove(g.in("link")))
		must(os.Symlink("elsewhere", g.in("link")))
		must(os.Remove(g.in("dangling")))
		must(os.Mkdir(g.in("dangling"), 0o755))
		must(os.Chmod(g.in("empty"), 0o755))
		must(os.MkdirAll(g.in("made/empty"), 0o755))
		must(os.WriteFile(g.in("made/file"), []byte("new"), 0o755))
	})
}

// TestUndoFrom_Faults has each step on the disk fail in turn: the error says so, no file has
// changed, nothing is left behind, and the same undo works once the disk does. The short form has
// every third step fail.
func TestUndoFrom_Faults(t *testing.T) {
	t.Parallel()
	for fail := int64(1); ; fail += testreq.Rounds[int64](3, 1) {
		var steps atomic.Int64
		var armed atomic.Bool
		g := newFixture(t, func(o *Options) {
			o.fault = func(string) error {
				if armed.Load() && steps.Add(1) == fail {
					return syscall.ENOSPC
				}
				return nil
			}
		})
		zoo(t, g.cwd)
		before := tree(t, g.cwd)
		g.turn(t)
		after := tree(t, g.cwd)
		armed.Store(true)
		_, err := g.UndoFrom(t.Context(), 0, nil)
		if steps.Load() < fail {
			if fail < 20 {
				t.Fatalf("only %d steps were made", steps.Load())
			}
			return // all have failed once
		}
		if err == nil {
			if diff := cmp.Diff(before, tree(t, g.cwd)); diff != "" { // the sync of a directory may fail
				t.Fatalf("step %d failed, and the undo did not say so (-want +got):\n%s", fail, diff)
			}
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("step %d: %v", fail, err)
		}
		if diff := cmp.Diff(after, tree(t, g.cwd)); diff != "" {
			t.Fatalf("step %d failed with %v (-want +got):\n%s", fail, err, diff)
		}
		if out, err := g.UndoFrom(t.Context(), 0, nil); err != nil || len(out.Left) > 0 {
			t.Fatalf("after a fault at step %d: %v, left %v", fail, err, out.Left)
		}
		if diff := cmp.Diff(before, tree(t, g.cwd)); diff != "" {
			t.Fatalf("after a fault at step %d (-want +got):\n%s", fail, diff)
		}
	}
}

// TestUndoFrom_ChangedSince asks about files that someone else has changed, and leaves them or
// puts them back by the answer; what is overwritten comes back with the redo.
func TestUndoFrom_ChangedSince(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		overwrite undo.Overwrite
		want      string
		left      bool
		fails     bool
	}{
		{name: "no one can be asked", want: "the user's", left: true},
		{name: "the user leaves it", overwrite: func(context.Context, []string) (bool, error) { return false, nil }, want: "the user's", left: true},
		{name: "the user has it put back", overwrite: func(context.Context, []string) (bool, error) { return true, nil }, want: "one\ntwo\n"},
		{name: "the user is not reached", overwrite: func(context.Context, []string) (bool, error) { return false, os.ErrDeadlineExceeded }, want: "the user's", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t)
			zoo(t, g.cwd)
			g.turn(t)
			put(t, g.in("text"), "the user's")
			put(t, g.in("unrelated"), "the user's")
			now := tree(t, g.cwd)
			out, err := g.UndoFrom(t.Context(), 0, tt.overwrite)
			if (err != nil) != tt.fails || (len(out.Left) > 0) != tt.left {
				t.Fatalf("left %v, %v", out.Left, err)
			}
			same(t, "the changed file", get(t, g.in("text")), tt.want)
			same(t, "a file of the user's", get(t, g.in("unrelated")), "the user's")
			if tt.fails {
				same(t, "everything", tree(t, g.cwd), now)
				return
			}
			if _, out, err := g.Redo(t.Context(), nil); err != nil || len(out.Left) > 0 {
				t.Fatalf("redo: left %v, %v", out.Left, err)
			}
			same(t, "after the redo", tree(t, g.cwd), now)
		})
	}
}

// TestUndoFrom_BetweenTurns asks about a file that the user changed between two turns that both
// changed it: what the user did would be lost.
func TestUndoFrom_BetweenTurns(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "old")
	g.History().Begin(t.Context(), "msg_1")
	g.command(t, func() { put(t, g.in("file"), "first") })
	put(t, g.in("file"), "first, and the user's")
	g.History().Begin(t.Context(), "msg_2")
	g.command(t, func() { put(t, g.in("file"), "second") })
	out, err := g.UndoFrom(t.Context(), 0, nil)
	if err != nil || len(out.Left) != 1 {
		t.Fatalf("left %v, %v", out.Left, err)
	}
	same(t, "the file", get(t, g.in("file")), "second")
}

// TestUndoFrom_NotKept names what was too large to be copied, and a secret, and leaves them.
func TestUndoFrom_NotKept(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.Keeping.Bounds.Entries, o.Keeping.Bounds.Listing, o.Keeping.Bounds.Copying = 1000, 1e10, 1e10
		o.Keeping.Bounds.FileBytes, o.Keeping.Bounds.Bytes = 10, 1000
	})
	put(t, g.in("large"), "larger than ten bytes")
	put(t, g.in(".env"), "KEY=1")
	put(t, g.in("small"), "small")
	g.History().Begin(t.Context(), "msg_1")
	g.command(t, func() {
		for _, name := range []string{"large", ".env", "small"} {
			put(t, g.in(name), "changed")
		}
	})
	out, err := g.UndoFrom(t.Context(), 0, nil)
	if err != nil || len(out.Left) != 2 {
		t.Fatalf("left %v, %v", out.Left, err)
	}
	same(t, "large", get(t, g.in("large")), "changed")
	same(t, "secret", get(t, g.in(".env")), "changed")
	same(t, "small", get(t, g.in("small")), "small")
}

// TestUndoFrom_Stopped takes back what a command changed that was stopped before the second look,
// and not what the user did afterwards.
func TestUndoFrom_Stopped(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "old")
	g.History().Begin(t.Context(), "msg_1")
	scan := g.History().Look(t.Context())
	put(t, g.in("file"), "new")
	scan.Leave()
	if out, err := g.UndoFrom(t.Context(), 0, nil); err != nil || len(out.Left) > 0 {
		t.Fatalf("left %v, %v", out.Left, err)
	}
	same(t, "the file", get(t, g.in("file")), "old")
}
