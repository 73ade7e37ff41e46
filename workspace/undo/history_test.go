package undo

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// fakeFiles are files in memory, by resolved path.
type fakeFiles struct {
	h     *History
	texts map[string]string
	fails map[string]error
}

func (f *fakeFiles) state(path string) journal.State {
	text, exists := f.texts[path]
	if !exists {
		return journal.State{}
	}
	return journal.State{Form: journal.File, Content: journal.ContentOf(text)}
}

func (f *fakeFiles) Standing(_ context.Context, path string) (Standing, error) {
	return Standing{State: f.state(path)}, f.fails[path]
}

func (f *fakeFiles) Remove(_ context.Context, _, path string, _ fs.FileInfo) error {
	delete(f.texts, path)
	return nil
}

func (f *fakeFiles) Put(_ context.Context, _ string, r *journal.Record, _ fs.FileInfo) error {
	var text strings.Builder
	if err := f.h.CopyTo(&text, r.Before.Content); err != nil {
		return err
	}
	f.texts[r.Path] = text.String()
	return nil
}

func (f *fakeFiles) Move(_ context.Context, _, from, to string, _ fs.FileInfo) error {
	f.texts[to] = f.texts[from]
	delete(f.texts, from)
	return nil
}

func (f *fakeFiles) ReadText(_ context.Context, path string) (tools.Text, error) {
	text, exists := f.texts[path]
	return tools.Text{Content: text, Exists: exists}, nil
}

// write changes a file and records that.
func (f *fakeFiles) write(t *testing.T, by journal.Origin, path, text string) {
	t.Helper()
	e := f.h.Stage(by)
	r := journal.Record{Path: path, Kind: journal.Created, Before: f.state(path)}
	if r.Before.Form == journal.File {
		r.Kind = journal.Modified
		var err error
		if r.Before.Content, r.Before.Kept, err = e.Keep(strings.NewReader(f.texts[path])); err != nil {
			t.Fatal(err)
		}
	}
	f.texts[path] = text
	r.After = f.state(path)
	e.Commit(r)
}

func (f *fakeFiles) rename(by journal.Origin, from, to string) {
	state := f.state(from)
	f.texts[to] = f.texts[from]
	delete(f.texts, from)
	f.h.Stage(by).Commit(
		journal.Record{Path: from, Kind: journal.Deleted, Before: state},
		journal.Record{Path: to, Kind: journal.Created, After: state},
	)
}

func newFiles(t *testing.T, texts map[string]string) *fakeFiles {
	t.Helper()
	return &fakeFiles{h: newSession(t).History, texts: texts, fails: map[string]error{}}
}

func (f *fakeFiles) check(t *testing.T, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if f.texts[path] != text {
			t.Errorf("%s holds %q, want %q", path, f.texts[path], text)
		}
	}
	if len(f.texts) != len(want) {
		t.Errorf("files %v, want %v", f.texts, want)
	}
}

func TestHistory_Rollback(t *testing.T) {
	t.Parallel()
	call := journal.Origin{Operation: "call_1"}
	f := newFiles(t, map[string]string{"/a": "a", "/c": "c"})
	f.write(t, call, "/a", "a2")
	f.write(t, call, "/a", "a3")
	f.write(t, call, "/b", "new")
	f.rename(call, "/c", "/d")
	f.write(t, journal.Origin{Operation: "child", Parent: "call_1"}, "/d", "d2")
	var locked []string
	by := Call{Origin: journal.Origin{Operation: "rollback"}, Files: f, Lock: func(_ context.Context, paths []string) (func(), error) {
		locked = append(locked, paths...)
		return func() {}, nil
	}}
	if failed := f.h.Rollback(t.Context(), by, "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	f.check(t, map[string]string{"/a": "a", "/c": "c"})
	if want := []string{"/d", "/c", "/d", "/b", "/a", "/a"}; !slices.Equal(locked, want) {
		t.Errorf("locked %q, want %q", locked, want)
	}
	if left := f.h.Modified("call_1"); len(left) > 0 {
		t.Errorf("still modified: %q", left)
	}
}

// TestHistory_RollbackStuck holds that a change which cannot be taken back keeps the older
// ones of its file from being taken back over it, and no others.
func TestHistory_RollbackStuck(t *testing.T) {
	t.Parallel()
	call := journal.Origin{Operation: "call_1"}
	f := newFiles(t, map[string]string{"/a": "a", "/b": "b"})
	f.write(t, call, "/a", "a2")
	f.write(t, call, "/b", "b2")
	f.write(t, call, "/a", "a3")
	f.texts["/a"] = "the user's"
	failed := f.h.Rollback(t.Context(), Call{Files: f}, "call_1")
	if len(failed) != 1 || !errors.Is(failed[0], tools.ErrChanged) {
		t.Errorf("failed %v", failed)
	}
	f.check(t, map[string]string{"/a": "the user's", "/b": "b"})
	f.texts["/a"] = "a3"
	if failed := f.h.Rollback(t.Context(), Call{Files: f}, "call_1"); len(failed) > 0 {
		t.Errorf("the second rollback: %v", failed)
	}
	f.check(t, map[string]string{"/a": "a", "/b": "b"})
}

func TestHistory_Undo(t *testing.T) {
	t.Parallel()
	parent, child := journal.Origin{Operation: "call_1"}, journal.Origin{Operation: "call_2", Parent: "task"}
	tests := []struct {
		name    string
		by      journal.Origin
		secret  bool
		touched string // what the user makes of the file first
		want    string // the text that comes back, or the error
	}{
		{name: "the last change goes", by: parent, want: "two"},
		{name: "a secret's texts are not shown", by: parent, secret: true},
		{name: "the user's change stays", by: parent, touched: "the user's", want: "was changed since"},
		{name: "another agent's change stays", by: child, want: "by another agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFiles(t, map[string]string{"/a": "one"})
			f.write(t, parent, "/a", "two")
			f.write(t, parent, "/a", "three")
			if tt.touched != "" {
				f.texts["/a"] = tt.touched
			}
			by, file := Call{Origin: tt.by, Files: f}, File{Path: "/link", Resolved: []string{"/a"}, Secret: tt.secret}
			if paths := f.h.LastPaths(file); !slices.Equal(paths, []string{"/a"}) {
				t.Errorf("an undo would change %q", paths)
			}
			change, err := f.h.Undo(t.Context(), by, file)
			switch {
			case err != nil:
				if tt.want == "" || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want %q", err, tt.want)
				}
			case tt.secret:
				if change.Old != nil || change.New != nil {
					t.Errorf("shown %v", change)
				}
			case change.New == nil || *change.New != tt.want || *change.Old != "three" || f.texts["/a"] != tt.want:
				t.Errorf("change %+v, the file holds %q", change, f.texts["/a"])
			}
		})
	}
}

func TestHistory_NoteFound(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	put(t, s.in("file"), "text")
	put(t, s.in("secret"), "key")
	content := journal.ContentOf("text")
	s.NoteFound(journal.Origin{Operation: "call_1"}, []FileChange{
		{Path: s.in("file"), Kind: journal.Created, After: &content}, {Path: s.in("secret"), Kind: journal.Created}, {Path: s.in("gone"), Kind: journal.Deleted},
	})
	for i, c := range s.Changes("call_1") {
		if known := c.After != nil && *c.After == content; !c.Seen || known != (i == 0) {
			t.Errorf("noted %+v", c)
		}
	}
	if failed := s.Rollback(t.Context(), Call{}, "call_1"); len(failed) > 0 {
		t.Errorf("what a scan found was taken back: %v", failed)
	}
}
