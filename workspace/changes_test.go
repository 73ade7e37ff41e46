package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

func TestUndo(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "0")
	c := g.call(t)
	f, changes := c.FS(), c.Changes()
	for _, text := range []string{"1", "2"} {
		if err := f.WriteText(t.Context(), "file", text, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range [][2]string{{"2", "1"}, {"1", "0"}} {
		want := tools.Change{Path: g.in("file"), Old: &step[0], New: &step[1], Exists: true}
		last, err := changes.Last(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "last", last, want)
		same(t, "content before the undo", get(t, g.in("file")), step[0])
		done, err := changes.Undo(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "undo", done, want)
		same(t, "content", get(t, g.in("file")), step[1])
	}
	for _, path := range []string{"file", "never", filepath.Join(g.outside, "file")} {
		_, err := changes.Undo(t.Context(), path)
		if e := toolError(t, err, tools.BadInput); !strings.HasPrefix(e.Message, "nothing to undo for "+g.abs(path)) || e.Hint == "" {
			t.Errorf("undo of %s: %v", path, err)
		}
	}
	noTemps(t, g)
}

// TestUndo_Kinds takes back one change of each kind, and looks at the tree and
// at what the user sees.
func TestUndo_Kinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		change   func(t *testing.T, f tools.FS) error
		path     string
		old, new *string
		exists   bool
	}{
		{"created", func(t *testing.T, f tools.FS) error {
			return f.WriteText(t.Context(), "made/new", "x", nil)
		}, "made/new", new("x"), nil, false},
		{"modified", func(t *testing.T, f tools.FS) error {
			return f.WriteText(t.Context(), "text", "x", nil)
		}, "text", new("x"), new("one\ntwo\n"), true},
		{"modified binary", func(t *testing.T, f tools.FS) error {
			return f.WriteText(t.Context(), "binary", "x", nil)
		}, "binary", new("x"), nil, true},
		{"modified through a link", func(t *testing.T, f tools.FS) error {
			return f.WriteText(t.Context(), "link", "x", nil)
		}, "link", new("x"), new("#!/bin/sh\n"), true},
		{"deleted", func(t *testing.T, f tools.FS) error {
			return f.Remove(t.Context(), "sub/.deep/script", nil)
		}, "sub/.deep/script", nil, new("#!/bin/sh\n"), true},
		{"deleted link", func(t *testing.T, f tools.FS) error {
			return f.Remove(t.Context(), "dangling", nil)
		}, "dangling", nil, nil, true},
		{"renamed, by its new name", func(t *testing.T, f tools.FS) error {
			return f.Rename(t.Context(), "text", "made/text")
		}, "made/text", new("one\ntwo\n"), nil, false},
		{"renamed, by its old name", func(t *testing.T, f tools.FS) error {
			return f.Rename(t.Context(), "text", "made/text")
		}, "text", nil, new("one\ntwo\n"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newFixture(t)
			zoo(t, g.cwd)
			before := tree(t, g.cwd)
			if err := tt.change(t, g.call(t).FS()); err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(before, tree(t, g.cwd)) {
				t.Fatal("nothing was changed")
			}
			undo := g.Call("call_2", "undo_edit", nil)
			defer undo.Finish()
			got, err := undo.Changes().Undo(t.Context(), tt.path)
			if err != nil {
				t.Fatal(err)
			}
			want := tools.Change{Path: g.in(tt.path), Old: tt.old, New: tt.new, Exists: tt.exists}
			if other := map[string]string{"made/text": "text", "text": "made/text"}[tt.path]; strings.HasPrefix(tt.name, "renamed") {
				want.Also = []string{g.in(other)}
			}
			same(t, "change", got, want)
			same(t, "tree", tree(t, g.cwd), before)
			same(t, "modified by the change", g.History().Modified("call_1"), []string(nil))
			if got := g.History().Modified("call_2"); len(got) == 0 {
				t.Error("the undo is not counted as having changed anything")
			}
		})
	}
}

// TestUndo_Refuses is trap 35: an undo never reverts what came after the change.
func TestUndo_Refuses(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "old")
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), "file", "ours", nil); err != nil {
		t.Fatal(err)
	}
	put(t, g.in("file"), "the user's")
	for _, undo := range []func() error{
		func() error { _, err := c.Changes().Last(t.Context(), "file"); return err },
		func() error { _, err := c.Changes().Undo(t.Context(), "file"); return err },
	} {
		e := toolError(t, undo(), tools.BadInput)
		if !strings.Contains(e.Message, "changed since") || !strings.Contains(e.Message, "nothing was undone") {
			t.Errorf("error %q", e.Message)
		}
		same(t, "content", get(t, g.in("file")), "the user's")
	}
	put(t, g.in("file"), "ours") // the user took it back themselves
	if _, err := c.Changes().Undo(t.Context(), "file"); err != nil {
		t.Fatal(err)
	}
	same(t, "content", get(t, g.in("file")), "old")
}

func TestUndo_Secret(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), ".env", "KEY=1", nil); err != nil {
		t.Fatal(err)
	}
	got, err := c.Changes().Undo(t.Context(), ".env")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "change", got, tools.Change{Path: g.in(".env")})
	if _, err := os.Lstat(g.in(".env")); !os.IsNotExist(err) {
		t.Errorf("the file stayed: %v", err)
	}
}

// TestJournal_Bounds lets pre-images outgrow their bound: the oldest go, and an
// undo says so instead of guessing.
func TestJournal_Bounds(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) { o.JournalBytes = 1000 })
	text := func(letter string) string { return strings.Repeat(letter, 600) }
	for i, name := range []string{"first", "second"} {
		put(t, g.in(name), text(name[:1]))
		c := g.Call([]string{"call_1", "call_2"}[i], "write", nil)
		if err := c.FS().WriteText(t.Context(), name, "ours", nil); err != nil {
			t.Fatal(err)
		}
		c.Finish()
	}
	put(t, g.in("huge"), strings.Repeat("h", 2000))
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), "huge", "ours", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "huge"} {
		_, err := c.Changes().Undo(t.Context(), name)
		if e := toolError(t, err, tools.Unavailable); !strings.Contains(e.Message, "no longer kept") {
			t.Errorf("error %q", e.Message)
		}
		same(t, "content", get(t, g.in(name)), "ours")
	}
	if failed := g.Rollback(t.Context(), "call_2"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "content", get(t, g.in("second")), text("s"))
}

// TestJournal_Private looks at where pre-images are, and that a damaged one is
// not put back.
func TestJournal_Private(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "old")
	c := g.call(t)
	if err := c.FS().WriteText(t.Context(), "file", "ours", nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(g.private.Path(), "journal")
	images, err := os.ReadDir(dir)
	if err != nil || len(images) != 1 {
		t.Fatalf("pre-images: %v, %v", images, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
	image := filepath.Join(dir, images[0].Name())
	if info, err := os.Stat(image); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("pre-image: %v, %v", info.Mode(), err)
	}
	put(t, image, "bad")
	if _, err := c.Changes().Undo(t.Context(), "file"); err == nil {
		t.Error("a damaged pre-image was put back")
	}
	same(t, "content", get(t, g.in("file")), "ours")
	noTemps(t, g)
}

func TestOperations(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	g := newFixture(t, func(o *Options) { o.Now = func() time.Time { return at } })
	put(t, g.in("gone"), "")
	write := g.Delegate(Delegate{Agent: "main/explore", Parent: "call_0"}).Call("call_1", "write", nil)
	defer write.Finish()
	if err := write.FS().WriteText(t.Context(), "new", "x", nil); err != nil {
		t.Fatal(err)
	}
	if err := write.FS().Remove(t.Context(), "gone", nil); err != nil {
		t.Fatal(err)
	}
	undo := g.Call("call_2", "undo_edit", nil)
	defer undo.Finish()
	if _, err := undo.Changes().Undo(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	empty, x := journal.ContentOf(""), journal.ContentOf("x")
	same(t, "audit", g.History().Operations(), []journal.Operation{
		{
			Origin: journal.Origin{Operation: "call_1", Parent: "call_0", Tool: "write", Session: "ses_test", Agent: "main/explore"},
			Changes: []journal.Change{
				{Path: g.in("new"), Kind: journal.Created, Time: at, TakenBack: true, After: &x},
				{Path: g.in("gone"), Kind: journal.Deleted, Time: at, Before: &empty},
			},
		},
		{
			Origin:  journal.Origin{Operation: "call_2", Tool: "undo_edit", Session: "ses_test"},
			Changes: []journal.Change{{Path: g.in("new"), Kind: journal.Deleted, Time: at, Undo: true, Before: &x}},
		},
	})
	same(t, "changes", g.History().Changes("call_2"), []journal.Change{{Path: g.in("new"), Kind: journal.Deleted, Time: at, Undo: true, Before: &x}})
	same(t, "modified", g.History().Modified("call_1"), []string{g.in("gone")})
}
