package pipeline_test

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/capability"
	"acp-agent/tools/pipeline"
)

// A directory that holds one of the agent's own is not searched, and the judgement leaves no descriptor of it open.
func TestHoldsSecret_OwnDirectory(t *testing.T) {
	s := newStage(t, func(o *pipeline.Options) {
		o.Own = []string{filepath.Join(o.Workspace.Session().Cwd, "own")}
	})
	s.write(t, "a.txt", "text\n")
	before := descriptorsOf(t, s.dir) // the workspace has one
	e := s.Explain(t.Context(), pipeline.Call{ID: "call_1", Name: "bash", Input: `{"cmd":"grep -r text ."}`})
	if e.Action != capability.Ask {
		t.Errorf("the command is judged as %v: %s", e.Action, e.Reason)
	}
	if after := descriptorsOf(t, s.dir); after != before {
		t.Errorf("%d descriptors of the directory are open, want %d", after, before)
	}
}

// descriptorsOf counts the descriptors of this process that are open for a directory.
func descriptorsOf(t *testing.T, dir string) (open int) {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, descriptor := range descriptors {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", descriptor.Name())); err == nil && to == dir {
			open++
		}
	}
	return open
}
