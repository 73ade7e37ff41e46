package tooltest_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

func TestFS_Links(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"real/a.txt": "a\n", ".env": "K=1\n"}})
	rt.Mem.Link("dir", "real")
	rt.Mem.Link("round", "round")
	rt.Mem.Link("plain.txt", ".env")

	info, err := rt.Mem.Stat(t.Context(), "dir/a.txt")
	if err != nil || info.Path != "/test-workspace/dir/a.txt" || info.Real != "/test-workspace/real/a.txt" || info.Size != 2 {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	if _, err := rt.Mem.Stat(t.Context(), "missing/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of a missing file: %v", err)
	}
	_, _ = rt.Mem.Stat(t.Context(), "round") // ends
	if !rt.Mem.Secret("plain.txt") || rt.Mem.Secret("real/a.txt") {
		t.Errorf("a link to a secret is one, other files are none")
	}
	if _, err := rt.Mem.ReadText(t.Context(), "plain.txt"); err == nil {
		t.Errorf("a secret was read")
	}
	entries, more, err := rt.Mem.List(t.Context(), ".", 3)
	want := []tools.DirEntry{{Name: ".env"}, {Name: "dir", IsDir: true}, {Name: "plain.txt"}}
	if diff := cmp.Diff(want, entries); diff != "" || !more || err != nil {
		t.Errorf("List (-want +got), more %v, %v:\n%s", more, err, diff)
	}
}

func TestFS_WriteText(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.txt": "a\n"}})
	before, err := rt.Mem.ReadText(t.Context(), "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Mem.WriteText(t.Context(), "a.txt", "b\n", &before); err != nil {
		t.Fatal(err)
	}
	if err := rt.Mem.WriteText(t.Context(), "a.txt", "c\n", &before); !errors.Is(err, tools.ErrChanged) {
		t.Errorf("a text was written over one that had changed: %v", err)
	}
	if err := rt.Mem.WriteText(t.Context(), "new.txt", "c\n", &tools.Text{}); err != nil {
		t.Errorf("a new file was refused: %v", err)
	}
	if diff := cmp.Diff([]string{"/test-workspace/a.txt", "/test-workspace/new.txt"}, rt.Mem.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if got, _ := rt.Mem.Get("a.txt"); got != "b\n" {
		t.Errorf("file = %q", got)
	}
}

func TestFS_LockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{})
	unlock, err := rt.Mem.Lock(t.Context(), "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := rt.Mem.Lock(ctx, "./a.txt")
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Lock = %v", err)
	}
	unlock()
	if again, err := rt.Mem.Lock(t.Context(), "a.txt"); err != nil {
		t.Errorf("Lock = %v", err)
	} else {
		again()
	}
}
