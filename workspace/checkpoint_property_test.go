package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// kept is what a store keeps of a session, in memory.
type kept struct {
	mu       sync.Mutex
	contents [][]byte
	records  map[string][]byte
}

func (k *kept) Put(content io.Reader) (string, error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.contents = append(k.contents, data)
	return fmt.Sprint(len(k.contents) - 1), nil
}

func (k *kept) Open(name string) (io.ReadCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var i int
	if _, err := fmt.Sscan(name, &i); err != nil || i >= len(k.contents) {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(k.contents[i])), nil
}

type keptRecords struct{ *kept }

func (k keptRecords) Put(key string, value any) error {
	data, err := json.Marshal(value)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records[key] = data
	return err
}

func (k keptRecords) read(key string, into any) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	data, ok := k.records[key]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(data, into)
}

// ravage does to a directory what a command may do.
func ravage(t *rapid.T, dir string) {
	names := rapid.SampledFrom([]string{
		"text", "binary", "empty", ".hidden", "sub", "sub/.deep", "sub/.deep/script", "sub/locked", "link", "dangling", "dirlink",
		"new", "made", "made/a", "made/a/new", "made/b", "sub/new",
	})
	path := filepath.Join(dir, names.Draw(t, "path"))
	text := []byte(rapid.StringMatching(`[a-c\n]{0,4}`).Draw(t, "text"))
	mode := rapid.SampledFrom([]os.FileMode{0o600, 0o644, 0o755}).Draw(t, "mode")
	// What cannot be done, such as in a directory that is not there, is not a change.
	switch rapid.SampledFrom([]string{"write", "append", "chmod", "remove", "removeAll", "mkdir", "link", "rename", "replace"}).Draw(t, "what") {
	case "write":
		_ = os.WriteFile(path, text, mode)
	case "append":
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = f.Write(append(text, '+'))
			_ = f.Close()
		}
	case "chmod":
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
			if info.IsDir() {
				mode |= 0o700
			}
			_ = os.Chmod(path, mode)
		}
	case "remove":
		_ = os.Remove(path)
	case "removeAll":
		_ = os.RemoveAll(path)
	case "mkdir":
		_ = os.MkdirAll(path, 0o755)
	case "link":
		_ = os.Symlink(string(text)+"x", path)
	case "rename":
		_ = os.Rename(path, filepath.Join(dir, names.Draw(t, "to")))
	case "replace":
		_ = os.RemoveAll(path)
		if rapid.Bool().Draw(t, "by a file") {
			_ = os.WriteFile(path, text, mode)
		} else {
			_ = os.MkdirAll(filepath.Join(path, "within"), mode|0o700)
		}
	}
}

// TestCheckpoints_AnyOrder is the promise of an undo: whatever the tools and the commands of turns
// did, undo and redo in any order leave the tree as a model of it says, byte for byte and mode for
// mode, also in another process.
func TestCheckpoints_AnyOrder(t *testing.T) {
	t.Parallel()
	testdir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(testdir, "")
		if err != nil {
			rt.Fatal(err)
		}
		if top, err = filepath.EvalSymlinks(top); err != nil {
			rt.Fatal(err)
		}
		cwd := filepath.Join(top, "work")
		if err := os.Mkdir(cwd, 0o755); err != nil {
			rt.Fatal(err)
		}
		zoo(t, cwd)
		store := &kept{records: map[string][]byte{}}
		open := func() *Workspace {
			w, err := New(Options{
				SessionID: "s", Directories: Directories{Cwd: cwd, State: filepath.Join(top, "state")},
				Keeping: Keeping{Contents: store, Records: keptRecords{store}},
			})
			if err != nil {
				rt.Fatal(err)
			}
			return w
		}
		w := open()
		defer func() { w.Close(0) }()
		var before []map[string]string // of each turn that is not undone
		type undone struct {
			before []map[string]string
			after  map[string]string
		}
		var back []undone
		for turn := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch what := rapid.SampledFrom([]string{"turn", "turn", "undo", "redo", "restart"}).Draw(rt, "step"); {
			case what == "restart":
				w.Close(0)
				w = open()
				w.History().LoadCheckpoints(keptRecords{store}.read, func(string) bool { return true })
			case what == "undo" && len(before) > 0:
				i := rapid.IntRange(0, len(before)-1).Draw(rt, "to")
				now := tree(rt, cwd)
				out, err := w.UndoFrom(t.Context(), i, nil)
				if err != nil || len(out.Left) > 0 {
					rt.Fatalf("undo: %v, left %v", err, out.Left)
				}
				if diff := cmp.Diff(before[i], tree(rt, cwd)); diff != "" {
					rt.Fatalf("after an undo (-want +got):\n%s", diff)
				}
				back = append(back, undone{before[i:], now})
				before = before[:i:i]
			case what == "redo" && len(back) > 0:
				last := back[len(back)-1]
				first, out, err := w.Redo(t.Context(), nil)
				if err != nil || len(out.Left) > 0 || first != len(before) {
					rt.Fatalf("redo from %d: %v, left %v", first, err, out.Left)
				}
				if diff := cmp.Diff(last.after, tree(rt, cwd)); diff != "" {
					rt.Fatalf("after a redo (-want +got):\n%s", diff)
				}
				before, back = append(before, last.before...), back[:len(back)-1]
			case what == "turn":
				before, back = append(before, tree(rt, cwd)), nil
				w.History().Begin(t.Context(), fmt.Sprint("msg_", turn))
				for range rapid.IntRange(1, 4).Draw(rt, "calls") {
					c := w.Call("call", "tool", nil)
					if rapid.Bool().Draw(rt, "by a command") {
						scan := w.History().Look(t.Context())
						for range rapid.IntRange(1, 5).Draw(rt, "changes") {
							ravage(rt, cwd)
						}
						scan.Changed(t.Context())
					} else {
						doing(t.Context(), rt, c.FS())
					}
					c.Finish()
				}
			}
			for path := range tree(rt, cwd) {
				if strings.Contains(path, ".acp-agent-") {
					rt.Fatalf("%s was left", path)
				}
			}
		}
	})
}
