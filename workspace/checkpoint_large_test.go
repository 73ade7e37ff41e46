package workspace

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/workspace/undo/snapshot"
)

// unhurried are the bounds of a look, without those of time: the machine of a test may be slow.
func unhurried(o *Options) {
	o.Keeping.Bounds = snapshot.DefaultBounds()
	o.Keeping.Bounds.Listing, o.Keeping.Bounds.Copying = 10*time.Minute, 10*time.Minute
}

const (
	largeDirs, largeFiles = 400, 50 // of each directory
	largeRewritten        = 50
)

// large makes a directory of so many directories with files.
func large(t testing.TB, dir string, dirs int) {
	t.Helper()
	text := bytes.Repeat([]byte("A line of a file, as there are many.\n"), 150)
	for d := range dirs {
		sub := filepath.Join(dir, fmt.Sprintf("d%02d", d/20), fmt.Sprintf("e%02d", d%20))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range largeFiles {
			size := 500 + (d*largeFiles+f)*37%5000
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%02d.txt", f)), text[:size], 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rewriteSome is a command that rewrites 50 files of a large directory, in place.
func rewriteSome(t testing.TB, dir string, dirs, round int) {
	t.Helper()
	for i := range largeRewritten {
		n := (i*397 + round) % (dirs * largeFiles)
		d := n / largeFiles
		name := filepath.Join(dir, fmt.Sprintf("d%02d", d/20), fmt.Sprintf("e%02d", d%20), fmt.Sprintf("f%02d.txt", n%largeFiles))
		if err := os.WriteFile(name, fmt.Appendf(nil, "rewritten in round %d\n", round), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUndoFrom_LargeTree undoes and redoes a command that rewrote 50 of 20,000 files, or of
// 1,000 in the short form.
func TestUndoFrom_LargeTree(t *testing.T) {
	t.Parallel()
	g := newFixture(t, unhurried)
	dirs := testreq.Rounds(largeDirs/20, largeDirs)
	large(t, g.cwd, dirs)
	before := tree(t, g.cwd)
	g.History().Begin(t.Context(), "msg_1")
	g.command(t, func() { rewriteSome(t, g.cwd, dirs, 1) })
	after := tree(t, g.cwd)
	if out, err := g.UndoFrom(t.Context(), 0, nil); err != nil || len(out.Left) > 0 || len(out.Changed) != largeRewritten {
		t.Fatalf("undo: put back %d, left %v, %v", len(out.Changed), out.Left, err)
	}
	if now := tree(t, g.cwd); !maps.Equal(before, now) {
		t.Fatalf("after the undo (-want +got):\n%.2000s", cmp.Diff(before, now))
	}
	if _, out, err := g.Redo(t.Context(), nil); err != nil || len(out.Left) > 0 {
		t.Fatalf("redo: left %v, %v", out.Left, err)
	}
	if now := tree(t, g.cwd); !maps.Equal(after, now) {
		t.Fatalf("after the redo (-want +got):\n%.2000s", cmp.Diff(after, now))
	}
}

// BenchmarkCheckpoint measures, in a directory of 20,000 files, the first look, the two looks of
// a command that rewrites 50 of them, its undo and the redo.
func BenchmarkCheckpoint(b *testing.B) {
	dir := b.TempDir()
	large(b, dir, largeDirs)
	open := func(b *testing.B) *Workspace {
		o := Options{SessionID: "s", Directories: Directories{Cwd: dir, State: filepath.Join(b.TempDir(), "state")}}
		unhurried(&o)
		w, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { w.Close(0) })
		return w
	}
	b.Run("first look", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w := open(b)
			b.StartTimer()
			w.History().Look(b.Context())
		}
	})
	w := open(b)
	w.History().Look(b.Context()).Changed(b.Context())
	round := 0
	look := func() { w.History().Look(context.Background()).Changed(context.Background()) }
	b.Run("looks of a command", func(b *testing.B) {
		for b.Loop() {
			look()
		}
	})
	b.Run("undo and redo", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w.History().Begin(b.Context(), "msg")
			scan := w.History().Look(b.Context())
			round++
			rewriteSome(b, dir, largeDirs, round)
			scan.Changed(b.Context())
			b.StartTimer()
			i := len(w.History().Checkpoints()) - 1
			if out, err := w.UndoFrom(b.Context(), i, nil); err != nil || len(out.Changed) == 0 {
				b.Fatal(out, err)
			}
			if _, _, err := w.Redo(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestUndoFrom_RealTree undoes and redoes what real programs do to a part of Go's own source:
// gofmt and sed that rewrite files, git that switches branches and stashes. The short form has
// a smaller part.
func TestUndoFrom_RealTree(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"git", "gofmt", "sed", "go", "cp"} {
		if _, err := exec.LookPath(program); err != nil {
			testreq.Skip(t, program)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	g := newFixture(t, unhurried)
	run := func(args ...string) {
		t.Helper()
		c := exec.Command(args[0], args[1:]...)
		c.Dir = g.cwd
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	parts, formatted := []string{"go", "net"}, "go/types" // all of go has files that gofmt cannot read
	if !testreq.Full() {
		formatted = "go/scanner"
		parts = []string{"go/doc", "go/scanner", "net/textproto", "net/url"}
	}
	for _, part := range parts {
		run("mkdir", "-p", filepath.Dir(part))
		run("cp", "-R", filepath.Join(strings.TrimSpace(string(root)), "src", part), part)
	}
	run("chmod", "-R", "u+w", ".")
	run("git", "init", "-q", "-b", "main")
	run("git", "add", "-A")
	run("git", "commit", "-q", "-m", "all")
	run("git", "checkout", "-q", "-b", "other")
	run("sh", "-c", `find net -name '*.go' -type f | head -300 | xargs sed -i -e 's/return/return /'; git rm -q -r go/doc; mkdir new; echo 1 > new/file`)
	run("git", "add", "-A")
	run("git", "commit", "-q", "-m", "changed")
	run("git", "checkout", "-q", "main")
	commands := [][]string{
		{"gofmt", "-w", "-r", "len(a) > 0 -> len(a) != 0", "net", formatted},
		{"sh", "-c", `find go -name '*.go' -type f | xargs sed -i -e 's/func /func  /'`},
		{"git", "stash", "-q"},
		{"git", "checkout", "-q", "other"},
		{"sh", "-c", `rm -rf net; mkdir -p net/empty; ln -s ../go net/link; chmod -R go-rwx go`},
	}
	files := func() map[string]string {
		all := tree(t, g.cwd)
		for path := range all {
			if path == ".git" || strings.HasPrefix(path, ".git/") {
				delete(all, path) // git's own history is left alone
			}
		}
		return all
	}
	states := []map[string]string{files()}
	for i, c := range commands {
		g.History().Begin(t.Context(), fmt.Sprint("msg_", i))
		g.command(t, func() { run(c...) })
		states = append(states, files())
		if maps.Equal(states[i], states[i+1]) {
			t.Fatalf("%v has changed nothing", c)
		}
	}
	undo := func(to int) {
		t.Helper()
		if out, err := g.UndoFrom(t.Context(), to, nil); err != nil || len(out.Left) > 0 {
			t.Fatalf("undo to %d: left %v, %v", to, out.Left, err)
		}
		if now := files(); !maps.Equal(states[to], now) {
			t.Fatalf("after the undo to %d (-want +got):\n%.2000s", to, cmp.Diff(states[to], now))
		}
	}
	redo := func(want int) {
		t.Helper()
		if _, out, err := g.Redo(t.Context(), nil); err != nil || len(out.Left) > 0 {
			t.Fatalf("redo: left %v, %v", out.Left, err)
		}
		if now := files(); !maps.Equal(states[want], now) {
			t.Fatalf("after the redo to %d (-want +got):\n%.2000s", want, cmp.Diff(states[want], now))
		}
	}
	undo(4)
	undo(3)
	undo(0)
	redo(3)
	redo(4)
	redo(5)
	undo(0)
	redo(5)
}
