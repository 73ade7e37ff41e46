package undo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/snapshot"
)

// session is a history of one directory.
type session struct {
	*History
	dir string
}

func newSession(t *testing.T, change ...func(*Options)) *session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	images, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close(); images.Close() })
	o := Options{
		Roots: []rootfile.Dir{{Path: dir, Handle: root}}, MaxText: 1 << 20,
		Secret: func(path string) bool { return filepath.Base(path) == "secret" },
		Images: func() (*os.Root, error) { return images, nil },
	}
	for _, f := range change {
		f(&o)
	}
	h := New(o)
	t.Cleanup(h.Close)
	return &session{dir: dir, History: h}
}

// in is a path in the session's directory.
func (s *session) in(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestScan_Cut looks at more than the bounds allow: what was not seen twice is
// not reported, and that is said.
func TestScan_Cut(t *testing.T) {
	t.Parallel()
	g := newSession(t, func(o *Options) {
		o.Bounds = snapshot.DefaultBounds()
		o.Bounds.Entries = 20_000
	})
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
	if len(changes) != 1 || changes[0].Path != g.in("a/file") || changes[0].Kind != journal.Modified {
		t.Errorf("changes %v, want that of a/file", changes)
	}
	if !strings.HasPrefix(skipped, "not looked at: everything beyond ") {
		t.Errorf("skipped = %q", skipped)
	}
}

func TestScan_Stopped(t *testing.T) {
	t.Parallel()
	g := newSession(t)
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	images, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer images.Close()
	w := New(Options{Roots: []rootfile.Dir{{Path: dir, Handle: root}}, Images: func() (*os.Root, error) { return images, nil }})
	defer w.Close()
	for b.Loop() {
		w.Look(b.Context()).Changed(b.Context())
	}
}
