package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/tools"
)

// TestEditor_Flags is R155's table: which way a read and an edit take for each
// combination of what the client offers, with and without unsaved work.
func TestEditor_Flags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name           string
		read, write    bool
		dirty          bool
		wantText       string
		wantDisk       string
		wantEditorText string
		wantErr        string
	}{
		{name: "both, clean", read: true, write: true, wantText: "disk", wantDisk: "disk", wantEditorText: "new"},
		{name: "both, dirty", read: true, write: true, dirty: true, wantText: "unsaved", wantDisk: "disk", wantEditorText: "new"},
		{name: "read only, clean", read: true, wantText: "disk", wantDisk: "new"},
		{name: "read only, dirty", read: true, dirty: true, wantText: "unsaved", wantDisk: "disk", wantErr: "unsaved changes"},
		{name: "write only, clean", write: true, wantText: "disk", wantDisk: "new"},
		{name: "write only, dirty", write: true, dirty: true, wantText: "disk", wantDisk: "new"},
		{name: "none, clean", wantText: "disk", wantDisk: "new"},
		{name: "none, dirty", dirty: true, wantText: "disk", wantDisk: "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEditor(tt.read, tt.write)
			g := newFixture(t, withEditor(e))
			path := put(t, g.in("file"), "disk")
			if tt.dirty {
				e.buffers[path] = "unsaved"
			}
			files := g.call(t).FS()
			text, err := files.ReadText(t.Context(), "file")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "text", text, tools.Text{Content: tt.wantText, Exists: true, FromEditor: tt.read})
			err = files.WriteText(t.Context(), "file", "new", &text)
			if tt.wantErr == "" && err != nil {
				t.Fatal(err)
			}
			if tt.wantErr != "" && !strings.Contains(toolError(t, err, tools.Backend).Message, tt.wantErr) {
				t.Errorf("error %v does not say %q", err, tt.wantErr)
			}
			same(t, "disk", get(t, path), tt.wantDisk)
			same(t, "editor's writes", strings.Join(e.writes[path], "|"), tt.wantEditorText)
			if reads, _ := e.count(); !tt.read && reads != 0 {
				t.Errorf("%d reads were asked of a client that offers none", reads)
			}
			noTemps(t, g)
		})
	}
}

func TestEditor_NewFile(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	e.save, e.tail = true, "\n"
	g := newFixture(t, withEditor(e))
	files := g.call(t).FS()
	before, err := files.ReadText(t.Context(), "a/b/new.txt")
	if err != nil || before.Exists {
		t.Fatalf("a missing file gives %+v, %v", before, err)
	}
	if reads, _ := e.count(); reads != 0 {
		t.Error("the editor was asked for a file that does not exist")
	}
	if err := files.WriteText(t.Context(), "a/b/new.txt", "text\n", &before); err != nil {
		t.Fatal(err)
	}
	same(t, "writes", e.writes[g.in("a/b/new.txt")], []string{"text\n"})
	same(t, "disk", get(t, g.in("a/b/new.txt")), "text\n\n")
	// What was written need not read back the same; the next edit works on
	// what is there.
	next, err := files.ReadText(t.Context(), "a/b/new.txt")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "text", next.Content, "text\n\n")
	if err := files.WriteText(t.Context(), "a/b/new.txt", "more\n", &next); err != nil {
		t.Error(err)
	}
}

func TestEditor_StaysLocal(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	cache := t.TempDir()
	g := newFixture(t, withEditor(e), func(o *Options) {
		o.Directories.Write = []string{cache}
		o.Limits = tools.CanonicalLimits()
		o.Limits.FileBytes = 1000
	})
	put(t, filepath.Join(cache, "file"), "x")
	put(t, g.in("latin"), "caf\xe9")
	put(t, g.in("image.png"), "\x89PNG\r\n\x1a\n\x00")
	put(t, g.in("huge"), strings.Repeat("x", 1001))
	files := g.call(t).FS()
	for _, path := range []string{filepath.Join(cache, "file"), g.Session().Scratch + "/note", "latin", "image.png", "huge", ".env"} {
		if err := files.WriteText(t.Context(), path, "new", nil); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		same(t, path, get(t, g.abs(path)), "new")
	}
	put(t, g.in("latin"), "caf\xe9")
	put(t, g.in("huge"), strings.Repeat("x", 1001))
	for _, path := range []string{filepath.Join(cache, "file"), "latin", "huge", "gone"} {
		if _, ok, err := files.ReadLines(t.Context(), path, 1, 2); ok || err != nil {
			t.Errorf("ReadLines of %s: ok = %v, err = %v", path, ok, err)
		}
	}
	if reads, writes := e.count(); reads+writes != 0 {
		t.Errorf("the editor was asked: %v, %v", e.reads, e.writes)
	}
}

func TestEditor_ReadLines(t *testing.T) {
	t.Parallel()
	e := newEditor(true, false)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "1\n2\n3\n4")
	e.buffers[path] = "one\ntwo\nthree\nfour"
	files := g.call(t).FS()
	tests := []struct {
		from, to int
		want     string
	}{{1, 2, "one\ntwo\n"}, {2, 2, "two\n"}, {3, 100, "three\nfour"}, {5, 9, ""}, {-1, 1, "one\n"}}
	for _, tt := range tests {
		text, ok, err := files.ReadLines(t.Context(), "file", tt.from, tt.to)
		if err != nil || !ok {
			t.Fatalf("ok = %v, err = %v", ok, err)
		}
		same(t, "lines", text, tt.want)
	}
}

// TestEditor_ReadLinesOfTheDisk covers texts of the disk that the editor was
// asked about: they must not pass for what the disk alone decides, for the
// user may type at any moment.
func TestEditor_ReadLinesOfTheDisk(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e), func(o *Options) {
		o.Limits = tools.CanonicalLimits()
		o.Limits.FileBytes = 20
	})
	path := put(t, g.in("file"), "old\n")
	files := g.call(t).FS()
	tests := []struct {
		name         string
		disk, buffer string
		readErr      error
		want         string
	}{
		{"equal", "old\n", "old\n", nil, "old\n"},
		{"a command changed the disk", "by a command\n", "old\n", nil, "by a command\n"},
		{"the editor has no text to give", "by a command\n", "", errNotOpen, "by a command\n"},
		{"the user types", "by a command\n", "typed\n", nil, "typed\n"},
	}
	for _, tt := range tests {
		put(t, path, tt.disk)
		e.buffers[path], e.readErr = tt.buffer, tt.readErr
		text, ok, err := files.ReadLines(t.Context(), "file", 1, 2)
		if err != nil || !ok {
			t.Fatalf("%s: ok = %v, err = %v", tt.name, ok, err)
		}
		same(t, tt.name, text, tt.want)
	}
	e.buffers[path] = strings.Repeat("x", 21)
	_, _, err := files.ReadLines(t.Context(), "file", 1, 2)
	toolError(t, err, tools.BadInput) // and not the disk's text in its place
}

// TestEditor_NewerDisk is the rule of a clean buffer: after a command changed
// the file, the disk counts, unless the buffer holds work of its own.
func TestEditor_NewerDisk(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "first\n")
	files := g.call(t).FS()
	steps := []struct {
		name         string
		disk, buffer string
		want         string
		fromEditor   bool
	}{
		{"equal", "first\n", "first\n", "first\n", true},
		{"a command changed the disk", "second\n", "first\n", "second\n", false},
		{"and once more", "third\n", "first\n", "third\n", false},
		{"the editor reloads", "third\n", "third\n", "third\n", true},
		{"the user types", "third\n", "typed\n", "typed\n", true},
		{"then a command changes the disk", "fourth\n", "typed\n", "typed\n", true},
		{"the user saves", "typed\n", "typed\n", "typed\n", true},
		{"clean again, newer disk", "fifth\n", "typed\n", "fifth\n", false},
	}
	for _, tt := range steps {
		put(t, path, tt.disk)
		e.buffers[path] = tt.buffer
		got, err := files.ReadText(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, tt.name, got, tools.Text{Content: tt.want, Exists: true, FromEditor: tt.fromEditor})
	}
	// An edit of the newer text goes to the editor as a whole.
	before, err := files.ReadText(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	if err := files.WriteText(t.Context(), "file", "sixth\n", &before); err != nil {
		t.Fatal(err)
	}
	same(t, "buffer", e.buffers[path], "sixth\n")
}

func TestEditor_AfterOurWrite(t *testing.T) {
	t.Parallel()
	for _, save := range []bool{true, false} {
		e := newEditor(true, true)
		e.save = save
		g := newFixture(t, withEditor(e))
		path := put(t, g.in("file"), "old\n")
		e.buffers[path] = "old\n"
		files := g.call(t).FS()
		if err := files.WriteText(t.Context(), "file", "ours\n", nil); err != nil {
			t.Fatal(err)
		}
		got, err := files.ReadText(t.Context(), "file")
		if err != nil || got.Content != "ours\n" {
			t.Fatalf("save %v: %+v, %v", save, got, err)
		}
		put(t, path, "command\n")
		got, err = files.ReadText(t.Context(), "file")
		want := "ours\n" // unsaved work of ours is work
		if save {
			want = "command\n"
		}
		if err != nil || got.Content != want {
			t.Errorf("save %v: read %q, %v, want %q", save, got.Content, err, want)
		}
	}
}

func TestEditor_LineEnds(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, disk, buffer, want string }{
		{"the editor keeps CRLF apart", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"},
		{"and with unsaved work", "a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"},
		{"the editor gives CRLF", "a\r\nb\r\n", "a\r\nx\r\n", "a\r\nx\r\n"},
		{"mixed stays as the editor has it", "a\r\nb\n", "a\nx\n", "a\nx\n"},
		{"byte order mark", "\uFEFFa\n", "x\n", "\uFEFFx\n"},
		{"an added newline is no work", "a\n", "a\n\n", "a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEditor(true, true)
			g := newFixture(t, withEditor(e))
			path := put(t, g.in("file"), tt.disk)
			e.buffers[path] = tt.buffer
			files := g.call(t).FS()
			got, err := files.ReadText(t.Context(), "file")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "text", got.Content, tt.want)
			if err := files.WriteText(t.Context(), "file", got.Content+"!", &got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEditor_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	g := newFixture(t, withEditor(e))
	path := put(t, g.in("file"), "old")
	e.buffers[path] = "old"
	files := g.call(t).FS()
	before, err := files.ReadText(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	e.buffers[path] = "the user typed"
	toolError(t, files.WriteText(t.Context(), "file", "ours", &before), tools.Backend)
	same(t, "buffer", e.buffers[path], "the user typed")
	same(t, "disk", get(t, path), "old")
}

func TestEditor_Faults(t *testing.T) {
	t.Parallel()
	t.Run("a read error falls back to the disk", func(t *testing.T) {
		e := newEditor(true, true)
		e.readErr = errNotOpen
		g := newFixture(t, withEditor(e))
		put(t, g.in("file"), "disk")
		got, err := g.call(t).FS().ReadText(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "text", got, tools.Text{Content: "disk", Exists: true})
	})
	t.Run("an empty answer is the buffer's text, not a missing file", func(t *testing.T) {
		e := newEditor(true, true)
		g := newFixture(t, withEditor(e))
		e.buffers[put(t, g.in("file"), "disk")] = ""
		got, err := g.call(t).FS().ReadText(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "text", got, tools.Text{Exists: true, FromEditor: true})
	})
	t.Run("a write error is the tool's", func(t *testing.T) {
		e := newEditor(true, true)
		e.wrErr = errors.New("buffer is read only")
		g := newFixture(t, withEditor(e))
		put(t, g.in("file"), "disk")
		err := g.call(t).FS().WriteText(t.Context(), "file", "new", nil)
		if e := toolError(t, err, tools.Backend); !strings.Contains(e.Message, "buffer is read only") {
			t.Errorf("error %q", e.Message)
		}
		same(t, "disk", get(t, g.in("file")), "disk")
	})
	for _, op := range []string{"read", "write"} {
		t.Run("no answer to a "+op, func(t *testing.T) {
			e := newEditor(true, true)
			g := newFixture(t, withEditor(e))
			path := put(t, g.in("file"), "disk")
			files := g.call(t).FS()
			synctest.Test(t, func(t *testing.T) {
				e.hang = true
				start := time.Now()
				var err error
				if op == "read" {
					_, err = files.ReadText(t.Context(), "file")
				} else {
					put(t, g.in("new/.keep"), "")
					err = files.WriteText(t.Context(), "new/file", "new", nil)
				}
				toolError(t, err, tools.Timeout)
				same(t, "waited", time.Since(start), 30*time.Second)
			})
			same(t, "disk", get(t, path), "disk")
			if _, err := os.Stat(g.in("new/file")); err == nil {
				t.Error("the disk was written in silence")
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		e := newEditor(true, true)
		e.hang = true
		g := newFixture(t, withEditor(e))
		put(t, g.in("file"), "disk")
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("turn cancelled")
		cancel(cause)
		if _, err := g.call(t).FS().ReadText(ctx, "file"); !errors.Is(err, cause) {
			t.Errorf("err = %v", err)
		}
	})
}

// TestEditor_Spelling hands the editor paths as it gave them to us.
func TestEditor_Spelling(t *testing.T) {
	t.Parallel()
	e := newEditor(true, true)
	real := t.TempDir()
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, real, alias)
	g := newFixture(t, withEditor(e), func(o *Options) { o.Directories.Cwd = alias })
	put(t, filepath.Join(real, "sub", "file"), "x")
	if _, err := g.call(t).FS().ReadText(t.Context(), filepath.Join(real, "sub", "file")); err != nil {
		t.Fatal(err)
	}
	same(t, "asked for", e.reads, []string{filepath.Join(alias, "sub", "file")})
}
