package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// agentTree is the main agent of a workspace with agents below it: task delegates to a child,
// the child's own task to a grandchild, and another of its tasks to a second one; a
// second task of the main agent to a sibling.
type agentTree struct {
	main, child, grandchild, second, sibling *Workspace
}

func newAgentTree(w *Workspace) agentTree {
	f := agentTree{main: w, child: w.Delegate(Delegate{Agent: "main/general", Parent: "task"})}
	f.grandchild = f.child.Delegate(Delegate{Agent: "main/general/fix", Parent: "task_below"})
	f.second = f.child.Delegate(Delegate{Agent: "main/general/fix", Parent: "task_beside"})
	f.sibling = w.Delegate(Delegate{Agent: "main/explore", Parent: "task_other"})
	return f
}

// write makes one change as one call.
func write(t *testing.T, w *Workspace, call, name, text string) {
	t.Helper()
	c := w.Call(call, "write", nil)
	defer c.Finish()
	if err := c.FS().WriteText(t.Context(), name, text, nil); err != nil {
		t.Fatal(err)
	}
}

// TestDelegate_RollbackRestoresTheTree is R128's promise: whatever the agents below a call
// did, concurrently, rolling the call back leaves the tree as it was, but for what
// others did to other files meanwhile.
func TestDelegate_RollbackRestoresTheTree(t *testing.T) {
	t.Parallel()
	testdir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(testdir, "")
		if err != nil {
			rt.Fatal(err)
		}
		cwd := filepath.Join(top, "work")
		if err := os.Mkdir(cwd, 0o755); err != nil {
			rt.Fatal(err)
		}
		zoo(t, cwd)
		w, err := New(Options{SessionID: "s", Directories: Directories{Cwd: cwd, State: filepath.Join(top, "state")}})
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close(0)
		f := newAgentTree(w)
		within := map[string]*Call{
			"child 1": f.child.Call("call_1", "write", nil), "child 2": f.child.Call("call_2", "edit", nil),
			"grandchild": f.grandchild.Call("call_3", "write", nil), "second": f.second.Call("call_4", "write", nil),
		}
		others := []*Call{w.Call("call_5", "write", nil), f.sibling.Call("call_6", "write", nil)}
		before, theirs := tree(rt, cwd), map[string]bool{}
		for range rapid.IntRange(1, 16).Draw(rt, "changes") {
			who := rapid.SampledFrom([]string{"child 1", "child 2", "grandchild", "second", "other"}).Draw(rt, "who")
			if c := within[who]; c != nil {
				doing(t.Context(), rt, c.FS())
				continue
			}
			i := rapid.IntRange(0, len(others)-1).Draw(rt, "other")
			path := rapid.SampledFrom([]string{"theirs", "made/theirs", "made/a/theirs", "sub/theirs"}).Draw(rt, "path") + strconv.Itoa(i)
			if err := others[i].FS().WriteText(t.Context(), path, rapid.StringN(0, 4, 4).Draw(rt, "text"), nil); err == nil {
				theirs[path] = true
			}
		}
		now, want := tree(rt, cwd), maps.Clone(before)
		for path := range theirs {
			for ; path != "."; path = filepath.Dir(path) {
				want[path] = now[path]
			}
		}
		if failed := w.Rollback(t.Context(), "task"); len(failed) > 0 {
			rt.Fatal(failed)
		}
		if diff := cmp.Diff(want, tree(rt, cwd)); diff != "" {
			rt.Fatalf("after the rollback (-want +got):\n%s", diff)
		}
		if left := w.History().Modified("task"); len(left) > 0 {
			rt.Fatalf("the call still counts as having modified %v", left)
		}
		for _, id := range []string{"task_other", "call_5"} {
			if failed := w.Rollback(t.Context(), id); len(failed) > 0 {
				rt.Fatal(failed)
			}
		}
		if diff := cmp.Diff(before, tree(rt, cwd)); diff != "" {
			rt.Fatalf("after all rollbacks (-want +got):\n%s", diff)
		}
	})
}

// TestDelegate_Attribution tells the changes of a call with those below it, each of them
// as its own agent's.
func TestDelegate_Attribution(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	f := newAgentTree(g.Workspace)
	write(t, f.main, "call_1", "a", "main\n")
	write(t, f.child, "call_2", "b", "child\n")
	write(t, f.grandchild, "call_3", "c", "grandchild\n")
	write(t, f.second, "call_4", "d", "second\n")
	write(t, f.sibling, "call_5", "e", "sibling\n")
	modified := map[string][]string{
		"task": {"b", "c", "d"}, "task_below": {"c"}, "task_beside": {"d"}, "task_other": {"e"},
		"call_1": {"a"}, "call_3": {"c"}, "nothing": nil,
	}
	for operation, names := range modified {
		var paths, changed []string
		for _, name := range names {
			paths = append(paths, g.in(name))
		}
		for _, c := range g.History().Changes(operation) {
			changed = append(changed, c.Path)
		}
		same(t, "modified by "+operation, g.History().Modified(operation), paths)
		same(t, "changes of "+operation, changed, paths)
	}
	same(t, "own changes of a call that delegates", len(g.History().OwnChanges("task")), 0)
	same(t, "own changes of a call", len(g.History().OwnChanges("call_3")), 1)

	by := map[string]journal.Origin{}
	for _, o := range g.History().Operations() {
		by[o.Changes[0].Path] = o.Origin
	}
	origin := func(call, parent, agent string) journal.Origin {
		return journal.Origin{Operation: call, Parent: parent, Tool: "write", Session: "ses_test", Agent: agent}
	}
	same(t, "audit", by, map[string]journal.Origin{
		g.in("a"): origin("call_1", "", ""),
		g.in("b"): origin("call_2", "task", "main/general"),
		g.in("c"): origin("call_3", "task_below", "main/general/fix"),
		g.in("d"): origin("call_4", "task_beside", "main/general/fix"),
		g.in("e"): origin("call_5", "task_other", "main/explore"),
	})
}

// TestDelegate_SameFile takes back what several agents made of one file, and refuses when
// another agent or the user changed it since.
func TestDelegate_SameFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		last func(f agentTree) *Workspace
		want string
	}{
		{"by agents below the call", func(f agentTree) *Workspace { return f.second }, "old\n"},
		{"by the main agent since", func(f agentTree) *Workspace { return f.main }, "last\n"},
		{"by another agent since", func(f agentTree) *Workspace { return f.sibling }, "last\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newFixture(t)
			f := newAgentTree(g.Workspace)
			put(t, g.in("a"), "old\n")
			write(t, f.child, "call_1", "a", "child\n")
			write(t, f.grandchild, "call_2", "a", "grandchild\n")
			write(t, f.child, "call_3", "a", "child again\n")
			write(t, tt.last(f), "call_4", "a", "last\n")
			failed := g.Rollback(t.Context(), "task")
			same(t, "text", get(t, g.in("a")), tt.want)
			if refused := tt.want == "last\n"; refused != (len(failed) > 0) {
				t.Errorf("failures %v", failed)
			} else if refused && !strings.Contains(failed[0].Error(), "was changed since") {
				t.Errorf("failure %v", failed[0])
			}
		})
	}
}

// TestDelegate_Undo lets an agent take back its own changes and those below it, and no
// others.
func TestDelegate_Undo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		by, of func(f agentTree) *Workspace
		ok     bool
	}{
		{"its own", func(f agentTree) *Workspace { return f.child }, func(f agentTree) *Workspace { return f.child }, true},
		{"of an agent below", func(f agentTree) *Workspace { return f.child }, func(f agentTree) *Workspace { return f.grandchild }, true},
		{"any agent's, by the main agent", func(f agentTree) *Workspace { return f.main }, func(f agentTree) *Workspace { return f.grandchild }, true},
		{"of the main agent", func(f agentTree) *Workspace { return f.child }, func(f agentTree) *Workspace { return f.main }, false},
		{"of the agent above", func(f agentTree) *Workspace { return f.grandchild }, func(f agentTree) *Workspace { return f.child }, false},
		{"of a sibling agent", func(f agentTree) *Workspace { return f.grandchild }, func(f agentTree) *Workspace { return f.second }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newFixture(t)
			f := newAgentTree(g.Workspace)
			write(t, tt.of(f), "call_1", "a", "text\n")
			c := tt.by(f).Call("call_2", "undo_edit", nil)
			defer c.Finish()
			_, err := c.Changes().Undo(t.Context(), "a")
			_, gone := os.Lstat(g.in("a"))
			if tt.ok {
				if err != nil || !os.IsNotExist(gone) {
					t.Errorf("error %v, file %v", err, gone)
				}
				same(t, "modified by the call above", g.History().Modified("task"), []string(nil))
				return
			}
			if e := toolError(t, err, tools.BadInput); !strings.Contains(e.Message, "another agent") || gone != nil {
				t.Errorf("error %v, file %v", e, gone)
			}
		})
	}
}

// TestDelegate_GrantsStay is R64: what the user opened for one agent is open to no other.
func TestDelegate_GrantsStay(t *testing.T) {
	t.Parallel()
	for name, opened := range map[string]func(f agentTree) *Workspace{
		"for the main agent": func(f agentTree) *Workspace { return f.main },
		"for a child":        func(f agentTree) *Workspace { return f.child },
		"for a grandchild":   func(f agentTree) *Workspace { return f.grandchild },
	} {
		t.Run(name, func(t *testing.T) {
			g := newFixture(t)
			path := put(t, filepath.Join(g.outside, "dir", "a"), "text")
			once := put(t, filepath.Join(g.outside, "once"), "text")
			f := newAgentTree(g.Workspace)
			its := opened(f)
			access, err := its.Check(path, false)
			if err != nil {
				t.Fatal(err)
			}
			its.Grant("call_1", access, true)
			if access, err = its.Check(once, false); err != nil {
				t.Fatal(err)
			}
			its.Grant("call_1", access, false)
			later := opened(f).Delegate(Delegate{Agent: "x", Parent: "task_later"})
			for i, w := range []*Workspace{f.main, f.child, f.grandchild, f.second, f.sibling, later} {
				c := w.Call("call_1", "read", nil)
				_, kept := c.FS().ReadText(t.Context(), path)
				_, called := c.FS().ReadText(t.Context(), once)
				access, err := w.Check(path, false)
				c.Finish()
				same(t, "read", kept == nil && called == nil && err == nil && access.Inside, w == its)
				same(t, "refused", kept != nil && called != nil && err == nil && !access.Inside, w != its)
				same(t, "ad hoc", w.Vars("")[capability.VarAdHoc] != nil, w == its)
				if t.Failed() {
					t.Fatalf("agent %d: %v, %v, %v", i, kept, called, err)
				}
			}
		})
	}
}

// TestRelease ends what was opened, for one agent alone, and keeps what it changed.
func TestRelease(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	path := put(t, filepath.Join(g.outside, "a"), "text")
	f := newAgentTree(g.Workspace)
	access, err := g.Check(path, false)
	if err != nil {
		t.Fatal(err)
	}
	f.child.Grant("", access, true)
	f.sibling.Grant("", access, true)
	running := f.child.Call("call_1", "write", nil)
	defer running.Finish()
	f.child.Grant("call_1", access, false)
	write(t, f.child, "call_2", "new", "x")
	handle := f.child.opened.forGood[0].handle
	f.child.Release()
	f.child.Release()
	if _, err := handle.Stat("."); err == nil {
		t.Error("the directory is still open")
	}
	if _, err := running.FS().ReadText(t.Context(), path); err == nil {
		t.Error("a released agent reads what was opened for it")
	}
	f.child.Grant("", access, true)
	same(t, "opened afterwards", len(f.child.opened.forGood), 0)
	if err := running.FS().WriteText(t.Context(), "more", "x", nil); err != nil {
		t.Errorf("a call of a released agent cannot end its work: %v", err)
	}
	c := f.sibling.Call("call_3", "read", nil)
	defer c.Finish()
	if _, err := c.FS().ReadText(t.Context(), path); err != nil {
		t.Errorf("another agent lost what was opened for it: %v", err)
	}
	if failed := g.Rollback(t.Context(), "task"); len(failed) > 0 {
		t.Error(failed)
	}
	same(t, "tree", tree(t, g.cwd), map[string]string{})
}

// TestDelegate_Close ends the agents with the session.
func TestDelegate_Close(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	path := put(t, filepath.Join(g.outside, "a"), "text")
	f := newAgentTree(g.Workspace)
	access, err := g.Check(path, false)
	if err != nil {
		t.Fatal(err)
	}
	f.grandchild.Grant("", access, true)
	handle := f.grandchild.opened.forGood[0].handle
	c := f.grandchild.Call("call_1", "write", nil)
	g.Close(0)
	if err := c.FS().WriteText(t.Context(), "a", "x", nil); err == nil {
		t.Error("a subagent writes after the end of its session")
	}
	if _, err := handle.Stat("."); err == nil {
		t.Error("the directory is still open")
	}
	late := f.child.Delegate(Delegate{Agent: "x", Parent: "y"})
	late.Grant("", access, true)
	same(t, "opened afterwards", len(late.opened.forGood), 0)
}

// TestDelegate_Session tells a tool that it is a subagent's.
func TestDelegate_Session(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	w := g.Delegate(Delegate{Agent: "main/x", Parent: "task", Path: []string{"ses_test", "ses_x"}})
	child, main := w.Session(), g.Session()
	same(t, "child", child.IsSubagent && child.Scratch == main.Scratch, true)
	same(t, "path", child.Path, []string{"ses_test", "ses_x"})
	same(t, "main", main.IsSubagent, false)
	same(t, "its path", main.Path, []string{main.ID})
}

// TestDelegate_MadeDirectories removes the directories that several agents made or made
// again, with the last of what was put there.
func TestDelegate_MadeDirectories(t *testing.T) {
	t.Parallel()
	t.Run("others' files stay in it for a while", func(t *testing.T) {
		g := newFixture(t)
		f := newAgentTree(g.Workspace)
		write(t, f.child, "call_1", "made/a/ours", "x")
		write(t, f.sibling, "call_2", "made/a/theirs", "x")
		for _, id := range []string{"task", "task_other"} {
			if failed := g.Rollback(t.Context(), id); len(failed) > 0 {
				t.Fatal(failed)
			}
		}
		same(t, "tree", tree(t, g.cwd), map[string]string{})
	})
	t.Run("it is made again on the way back", func(t *testing.T) {
		g := newFixture(t)
		f := newAgentTree(g.Workspace)
		put(t, g.in("file"), "x")
		before := tree(t, g.cwd)
		one, two := f.child.Call("call_1", "apply_patch", nil), f.grandchild.Call("call_2", "delete_file", nil)
		defer one.Finish()
		defer two.Finish()
		if err := one.FS().Rename(t.Context(), "file", "made/a/file"); err != nil {
			t.Fatal(err)
		}
		if err := two.FS().Remove(t.Context(), "made/a/file", nil); err != nil {
			t.Fatal(err)
		}
		if err := one.FS().WriteText(t.Context(), "made/a/new", "x", nil); err != nil {
			t.Fatal(err)
		}
		if failed := g.Rollback(t.Context(), "task"); len(failed) > 0 {
			t.Fatal(failed)
		}
		same(t, "tree", tree(t, g.cwd), before)
	})
}
