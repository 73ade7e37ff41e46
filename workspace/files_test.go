package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

func TestFiles_Stat(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("dir/file"), "12345")
	link(t, g.in("dir/file"), g.in("link"))
	files := g.call(t).FS()
	info, err := files.Stat(t.Context(), "link")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "path", info.Path, g.in("link"))
	same(t, "real", info.Real, g.in("dir/file"))
	same(t, "size", info.Size, int64(5))
	if info.IsDir || !info.Mode.IsRegular() {
		t.Errorf("mode %v", info.Mode)
	}
	if dir, err := files.Stat(t.Context(), ""); err != nil || !dir.IsDir {
		t.Errorf("Stat of the root = %+v, %v", dir, err)
	}
}

func TestFiles_MissingIsNotTrouble(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "x")
	files := g.call(t).FS()
	for _, path := range []string{"no", "no/such/file"} {
		_, err := files.Open(t.Context(), path)
		e := toolError(t, err, tools.BadInput)
		same(t, "text", e.Error(), "ENOENT: no such file or directory '"+g.in(path)+"'")
		same(t, "path", e.Path, g.in(path))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v does not wrap fs.ErrNotExist", err)
		}
	}
	if _, err := files.Open(t.Context(), "file/x"); errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path below a file is reported as missing: %v", err)
	}
	if os.Geteuid() != 0 {
		locked := g.in("locked")
		put(t, filepath.Join(locked, "file"), "x")
		if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(locked, 0o755)
		_, err := files.Open(t.Context(), "locked/file")
		toolError(t, err, tools.Backend)
	}
}

func TestFiles_List(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	for _, name := range []string{"b", "a", "c/inner", "d"} {
		put(t, g.in("dir/"+name), "x")
	}
	link(t, "c", g.in("dir/to-dir"))
	link(t, "a", g.in("dir/to-file"))
	link(t, g.outside, g.in("dir/to-outside"))
	files := g.call(t).FS()
	entries, more, err := files.List(t.Context(), "dir", 10)
	if err != nil || more {
		t.Fatalf("more = %v, err = %v", more, err)
	}
	same(t, "entries", entries, []tools.DirEntry{
		{Name: "a"},
		{Name: "b"},
		{Name: "c", IsDir: true},
		{Name: "d"},
		{Name: "to-dir", IsDir: true},
		{Name: "to-file"},
		{Name: "to-outside"},
	})
	entries, more, err = files.List(t.Context(), "dir", 2)
	if err != nil || !more {
		t.Fatalf("more = %v, err = %v", more, err)
	}
	same(t, "first entries", entries, []tools.DirEntry{{Name: "a"}, {Name: "b"}})
	if _, _, err := files.List(t.Context(), "dir/a", 2); err == nil {
		t.Error("a file was listed")
	}
	if _, _, err := files.List(t.Context(), "dir/to-outside", 2); err == nil {
		t.Error("a directory outside was listed")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := files.List(cancelled, "dir", 2); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestFiles_Dir(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("sub/file"), "text")
	put(t, g.in(".ssh/key"), "secret")
	link(t, "sub", g.in("link"))
	files := g.call(t).FS()
	for _, path := range []string{"", "sub", "link"} {
		dir, err := files.Dir(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := dir.ReadDir()
		if err != nil || len(entries) == 0 {
			t.Errorf("%q: %v, %v", path, entries, err)
		}
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"sub/file", ".ssh", "..", "gone"} {
		if _, err := files.Dir(t.Context(), path); err == nil {
			t.Errorf("%q was opened for searching", path)
		}
	}
}

func TestFiles_Secret(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in(".env"), "KEY=1")
	link(t, ".env", g.in("notes"))
	files := g.call(t).FS()
	for path, want := range map[string]bool{".env": true, "notes": true, "gone/.env": true, "other": false} {
		same(t, path, files.Secret(path), want)
	}
	for _, path := range []string{".env", "notes", "gone/.env"} {
		_, openErr := files.Open(t.Context(), path)
		_, readErr := files.ReadText(t.Context(), path)
		for _, err := range []error{openErr, readErr} {
			e := toolError(t, err, tools.BadInput)
			same(t, "code", e.Code, tools.CodeSecretFile)
		}
	}
}

func TestFiles_ReadText(t *testing.T) {
	t.Parallel()
	g := newFixture(t, func(o *Options) {
		o.Limits = tools.CanonicalLimits()
		o.Limits.FileBytes = 100
	})
	const binaryText = "File appears to be binary and cannot be displayed as text."
	tests := []struct {
		name, content, want string // want is the error's text
	}{
		{name: "plain", content: "a\nb\n"},
		{name: "empty", content: ""},
		{name: "byte order mark and CRLF", content: "\uFEFFa\r\nb\r\n"},
		{name: "lone CR", content: "a\rb"},
		{name: "at the limit", content: strings.Repeat("x", 100)},
		{name: "over the limit", content: strings.Repeat("x", 101), want: "exceeds size limit (101 > 100)"},
		{name: "latin 1", content: "caf\xe9", want: binaryText},
		{name: "UTF-16", content: "\xff\xfea\x00", want: binaryText},
		{name: "UTF-16 without mark", content: "a\x00b\x00", want: binaryText},
		{name: "PNG", content: "\x89PNG\r\n\x1a\n", want: binaryText},
	}
	files := g.call(t).FS()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put(t, g.in("file"), tt.content)
			got, err := files.ReadText(t.Context(), "file")
			if tt.want != "" {
				if e := toolError(t, err, tools.BadInput); !strings.Contains(e.Message, tt.want) {
					t.Errorf("error %q does not say %q", e.Message, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			same(t, "text", got, tools.Text{Content: tt.content, Exists: true})
		})
	}
	if got, err := files.ReadText(t.Context(), "gone"); err != nil || got.Exists {
		t.Errorf("a missing file gives %+v, %v", got, err)
	}
	if _, err := files.ReadText(t.Context(), ""); err == nil {
		t.Error("a directory was read as text")
	}
}

func TestFiles_SparseFile(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("huge"), "")
	if err := os.Truncate(g.in("huge"), 1<<30); err != nil {
		testreq.Skip(t, "sparse files")
	}
	files := g.call(t).FS()
	_, err := files.ReadText(t.Context(), "huge")
	toolError(t, err, tools.BadInput)
	f, err := files.Open(t.Context(), "huge")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [4]byte
	if _, err := f.ReadAt(b[:], 1<<29); err != nil {
		t.Error(err)
	}
}

func TestFiles_AfterFinish(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "old")
	c := g.Call("call_1", "write", nil)
	c.Finish()
	toolError(t, c.FS().WriteText(t.Context(), "file", "late", nil), tools.Aborted)
	_, err := c.FS().Open(t.Context(), "file")
	toolError(t, err, tools.Aborted)
	same(t, "file", get(t, g.in("file")), "old")
}

func TestFiles_Lock(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	put(t, g.in("file"), "x")
	link(t, "file", g.in("alias"))
	files := g.call(t).FS()
	unlock, err := files.Lock(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("turn cancelled")
	cancel(cause)
	if _, err := files.Lock(waiting, "alias"); !errors.Is(err, cause) {
		t.Errorf("the alias was locked beside the file: %v", err)
	}
	if other, err := files.Lock(t.Context(), "other"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	unlock()
	unlock()
	again, err := files.Lock(t.Context(), "alias")
	if err != nil {
		t.Fatal(err)
	}
	again()
	if n := len(g.o.Locks.held); n != 0 {
		t.Errorf("%d locks are still remembered", n)
	}
}

func TestFiles_HugeDirectory(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	dir := g.in("many")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, g.in("one"), "")
	for i := range entryBatch + 10 { // names of one file, which are quicker to make than files
		if err := os.Link(g.in("one"), filepath.Join(dir, fmt.Sprintf("%06d", i))); err != nil {
			t.Fatal(err)
		}
	}
	entries, more, err := g.call(t).FS().List(t.Context(), "many", 3)
	if err != nil || !more {
		t.Fatalf("more = %v, err = %v", more, err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"000000", "000001", "000002"}) {
		t.Errorf("names %v", names)
	}
}
