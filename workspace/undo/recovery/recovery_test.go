package recovery

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"acp-agent/workspace/private"
	"acp-agent/workspace/undo/journal"
)

// unlinked is Resolve for the directories of tests, which have no links.
func unlinked(path string) (string, error) { return path, nil }

// newSession returns a session's private directory, and a directory of the user.
func newSession(t *testing.T) (dir *private.Dir, work string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, err = private.New(filepath.Join(root, "state"), "ses_test", "")
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, work
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSweep_Plan(t *testing.T) {
	t.Parallel()
	content := journal.ContentOf("new").Sum
	tests := []struct {
		name  string
		now   string // what the file holds when the sweep comes
		moved bool   // the path leads elsewhere by then
		want  string
	}{
		{name: "the new text goes, the old one comes back", now: "new", want: "old"},
		{name: "a later text of the user stays", now: "the user's", want: "the user's"},
		{name: "a directory that moved is left alone", now: "new", moved: true, want: "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, work := newSession(t)
			defer dir.Remove()
			path, temp := filepath.Join(work, "file"), filepath.Join(work, TempName())
			if _, err := WritePlan(dir, []Step{{Kind: Replace, Path: path, Temp: temp, New: content}}); err != nil {
				t.Fatal(err)
			}
			put(t, path, tt.now)
			put(t, temp, "old")
			Sweep(dir.Path(), func(path string) (string, error) {
				if tt.moved {
					return filepath.Join(path, "elsewhere"), nil
				}
				return path, nil
			})
			if got, err := os.ReadFile(path); err != nil || string(got) != tt.want {
				t.Errorf("the file holds %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestSweep_FinishedPlan(t *testing.T) {
	t.Parallel()
	dir, work := newSession(t)
	defer dir.Remove()
	path, to := filepath.Join(work, "old name"), put(t, filepath.Join(work, "new name"), "text")
	finish, err := WritePlan(dir, []Step{{Kind: Rename, Path: path, To: to}})
	if err != nil {
		t.Fatal(err)
	}
	finish()
	Sweep(dir.Path(), unlinked)
	if _, err := os.Stat(to); err != nil {
		t.Errorf("the file lost the name it was given: %v", err)
	}
}

func TestReadPlan_Unsound(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"cut off":             `{"kind":"rename","path":"/a","to":"/b"}`,
		"a relative path":     `{"kind":"rename","path":"a","to":"/b"}` + "\n",
		"a foreign temp name": `{"kind":"remove","path":"/a/b","temp":"/a/c"}` + "\n",
		"another directory":   `{"kind":"remove","path":"/a/b","temp":"/c/` + TempName() + `"}` + "\n",
		"no JSON":             "nonsense\n",
	} {
		if plan := readPlan(put(t, filepath.Join(t.TempDir(), "plan-x"), text)); plan != nil {
			t.Errorf("%s: read %+v", name, plan)
		}
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir, work := newSession(t)
	defer dir.Remove()
	list := NewLeftovers(dir)
	temp := filepath.Join(work, TempName())
	kept, empty := filepath.Join(work, "kept"), filepath.Join(work, "empty")
	list.Temp(temp)
	list.Dir(kept)
	list.Dir(empty)
	put(t, temp, "half")
	for _, made := range []string{kept, empty} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list.KeepDirs(filepath.Join(kept, "file"))
	list.Close()
	Sweep(dir.Path(), unlinked)
	for path, want := range map[string]bool{temp: false, empty: false, kept: true} {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) == want {
			t.Errorf("%s: still there %v, want %v", path, !want, want)
		}
	}
}

func TestPutBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ saved, want string }{
		"the name is free":            {"", "aside"},
		"the user saved another file": {"newer", "newer"},
	} {
		work := t.TempDir()
		dir, err := os.OpenRoot(work)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		temp := TempName()
		put(t, filepath.Join(work, temp), "aside")
		if tt.saved != "" {
			put(t, filepath.Join(work, "file"), tt.saved)
		}
		if err := PutBack(dir, temp, "file"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(filepath.Join(work, "file")); err != nil || string(got) != tt.want {
			t.Errorf("%s: the file holds %q, %v; want %q", name, got, err, tt.want)
		}
		if _, err := os.Lstat(filepath.Join(work, temp)); err == nil {
			t.Errorf("%s: the temporary name is still there", name)
		}
	}
}
