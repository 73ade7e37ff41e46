package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A helper that has one command after the other keeps nothing of a sandbox, and makes each anew.
func TestReuse(t *testing.T) {
	for _, kind := range confining {
		t.Run(string(kind), func(t *testing.T) {
			g := newFixture(t, kind)
			g.run(t, "true")
			helper := child(t)
			before := descriptors(t, helper)
			for i, reading := range []bool{true, false, true, true, false} {
				g.request.Reading = reading
				if out, code := g.run(t, "echo up > made; cat ../.netrc"); strings.Contains(out, "canary") || code == 0 {
					t.Errorf("command %d: exit code %d with %q", i, code, out)
				}
				if _, err := os.Lstat(filepath.Join(g.project, "made")); (err == nil) == reading {
					t.Errorf("command %d, which only reads %t: %v", i, reading, err)
				}
				_ = os.Remove(filepath.Join(g.project, "made"))
				if got := child(t); got != helper {
					t.Fatalf("helper %d after %d", got, helper)
				}
			}
			if after := descriptors(t, helper); !slices.Equal(before, after) {
				t.Errorf("descriptors %q, then %q", before, after)
			}
			g.launcher.Dismiss()
		})
	}
}

// child returns the one child of the test's process.
func child(t *testing.T) int {
	t.Helper()
	var children []string
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		children = append(children, strings.Fields(string(text))...)
	}
	if len(children) != 1 {
		t.Fatalf("children %q", children)
	}
	pid, err := strconv.Atoi(children[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// descriptors are the kinds of files that a process has open, none where only root sees them.
func descriptors(t *testing.T, pid int) (kinds []string) {
	t.Helper()
	dir := "/proc/" + itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsPermission(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, _ := os.Readlink(dir + "/" + e.Name())
		kind, _, _ := strings.Cut(target, ":")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}
