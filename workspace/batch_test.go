package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/workspace/private"
)

// batchCrashEnv numbers the step of a batch at which the test binary kills itself.
const batchCrashEnv = "WORKSPACE_BATCH_CRASH_AT"

// batchFiles are the files that a batch changes, by their names below the working
// directory, and batchAfter what it makes of them.
func batchFiles() (before, after map[string]string) {
	return map[string]string{"m": "m old", "d": "d old", "r": "r old", "s": "s old", "x": "x"},
		map[string]string{"new/n": "n new", "m": "m new", "to/r": "r new", "s2": "s old", "x": "x"}
}

// batchChanges create, change, delete and rename.
func batchChanges() []tools.FileChange {
	before := func(name string) *tools.Text { return &tools.Text{Content: name + " old", Exists: true} }
	return []tools.FileChange{
		{Path: "new/n", Text: new("n new"), Before: &tools.Text{}},
		{Path: "m", Text: new("m new"), Before: before("m")},
		{Path: "d", Delete: true, Before: before("d")},
		{Path: "r", To: "to/r", Text: new("r new"), Before: before("r")},
		{Path: "s", To: "s2", Before: before("s")},
	}
}

func putAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
}

// textsIn are all files below a directory; empty directories count, as files without a
// name.
func textsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			if inside, err := os.ReadDir(path); err != nil || len(inside) == 0 {
				found[rel+"/"] = ""
			}
			return nil
		}
		text, err := os.ReadFile(path)
		found[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// counted fails the step of a number, from 1.
type counted struct {
	mu   sync.Mutex
	n    int
	at   int
	name string // of the step that failed
	do   func() error
}

func (c *counted) step(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n != c.at {
		return nil
	}
	c.name = name
	return c.do()
}

func TestApply(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	before, after := batchFiles()
	putAll(t, g.cwd, before)
	c := g.call(t)
	if err := c.FS().Apply(t.Context(), batchChanges()); err != nil {
		t.Fatal(err)
	}
	same(t, "files", textsIn(t, g.cwd), after)
	if failed := g.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "files taken back", textsIn(t, g.cwd), before)
	if left, err := filepath.Glob(filepath.Join(g.state, "*", private.RunName, "plan-*")); err != nil || len(left) > 0 {
		t.Errorf("plans %v, %v", left, err)
	}
}

// TestApply_Faults makes each step of a batch fail in turn: every file is the old one, with
// nothing beside it, and the rollback of the call has nothing to do. A directory that cannot
// be synced, and pre-images aside, no step may fail after the last file has its name. The short
// form has every third step fail.
func TestApply_Faults(t *testing.T) {
	t.Parallel()
	before, after := batchFiles()
	for at := 1; ; at += testreq.Rounds(3, 1) {
		fault := &counted{at: at, do: func() error { return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} }}
		g := newFixture(t, func(o *Options) { o.fault = fault.step })
		putAll(t, g.cwd, before)
		err := g.call(t).FS().Apply(t.Context(), batchChanges())
		now := textsIn(t, g.cwd)
		switch {
		case fault.name == "" && err == nil:
			same(t, "files", now, after)
			if at < 30 {
				t.Errorf("a batch has %d steps only", at)
			}
			return
		case fault.name == "syncdir" && err == nil:
			same(t, "files", now, after)
			continue
		case err == nil:
			t.Errorf("step %d, %s: no error", at, fault.name)
		case !errors.Is(err, syscall.ENOSPC):
			t.Errorf("step %d, %s: error %v", at, fault.name, err)
		}
		same(t, fmt.Sprintf("files after the failure of step %d, %s", at, fault.name), now, before)
		if changes := g.History().Changes("call_1"); len(changes) > 0 {
			t.Errorf("step %d, %s: on record are %v", at, fault.name, changes)
		}
	}
}

// crashInBatch makes a batch in a session of dir and dies at a step.
func crashInBatch(at, dir string) int {
	n, err := strconv.Atoi(at)
	if err != nil {
		return 2
	}
	fault := &counted{at: n, do: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {}
	}}
	w, err := New(Options{
		SessionID: "ses_crash", fault: fault.step,
		Directories: Directories{Cwd: filepath.Join(dir, "work"), State: filepath.Join(dir, "state")},
	})
	if err != nil {
		return 2
	}
	c := w.Call("call_1", "apply_patch", nil)
	if c.FS().Apply(c.over, batchChanges()) != nil {
		return 3
	}
	return 0
}

// TestApply_Crash kills the process at each step of a batch: after the next start every file
// is the old one, or every file the new one, and nothing else is left. The short form kills it at
// every second step.
func TestApply_Crash(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before, after := batchFiles()
	olds, torn := 0, 0
	stride := testreq.Rounds(2, 1)
	for at := 1; ; at += stride {
		dir := t.TempDir()
		work := filepath.Join(dir, "work")
		putAll(t, work, before)
		cmd := exec.CommandContext(t.Context(), self, dir)
		cmd.Env = append(os.Environ(), batchCrashEnv+"="+strconv.Itoa(at))
		err := cmd.Run()
		if err != nil && cmd.ProcessState.ExitCode() > 1 {
			t.Fatalf("the process ended with %v", cmd.ProcessState)
		}
		names := fmt.Sprint(textsIn(t, work))
		if _, err := Sweep(filepath.Join(dir, "state")); err != nil {
			t.Error(err)
		}
		now := textsIn(t, work)
		if err == nil {
			same(t, "files", now, after)
			break
		}
		if fmt.Sprint(now) == fmt.Sprint(before) {
			olds++
		} else {
			same(t, fmt.Sprintf("files after a kill at step %d, with %s", at, names), now, after)
		}
		if strings.Contains(names, "m new") && strings.Contains(names, "s old") {
			torn++
		}
	}
	if olds*stride < 25 || torn == 0 {
		t.Errorf("%d kills left the old files, %d came between two renamings", olds, torn)
	}
}

// TestApply_Editor has the editor fail at the second of its files: the first is handed back
// its text, and nothing of the disk was changed.
func TestApply_Editor(t *testing.T) {
	t.Parallel()
	e := &changingEditor{fakeEditor: newEditor(true, true)}
	e.save = true
	full := true
	g := newFixture(t, func(o *Options) { o.Editor.Files = e })
	e.onWrite = func(path, text string) error {
		if full && path == g.in("r") {
			return errors.New("no space left")
		}
		return e.fakeEditor.WriteTextFile(t.Context(), path, text)
	}
	before, after := batchFiles()
	putAll(t, g.cwd, before)
	c := g.call(t)
	err := toolError(t, c.FS().Apply(t.Context(), batchChanges()), tools.Backend)
	if !strings.Contains(err.Message, g.in("r")) || !strings.Contains(err.Message, "no space left") {
		t.Errorf("error %q", err.Message)
	}
	if failed := c.Changes().Rollback(t.Context()); len(failed) > 0 {
		t.Fatal(failed)
	}
	same(t, "files", textsIn(t, g.cwd), before)
	full = false
	if err := c.FS().Apply(t.Context(), batchChanges()); err != nil {
		t.Fatal(err)
	}
	same(t, "files", textsIn(t, g.cwd), after)
}

// TestApply_Changed has a file change while the others are got ready.
func TestApply_Changed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"m", "d", "r", "to/r", "new/n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g *fixture
			g = newFixture(t, func(o *Options) {
				o.fault = func(step string) error {
					if step == "plan" {
						put(t, g.in(name), "the user's, and longer")
					}
					return nil
				}
			})
			before, _ := batchFiles()
			putAll(t, g.cwd, before)
			if err := g.call(t).FS().Apply(t.Context(), batchChanges()); err == nil {
				t.Error("the user's text was written over")
			}
			before[name] = "the user's, and longer"
			same(t, "files", textsIn(t, g.cwd), before)
		})
	}
}
