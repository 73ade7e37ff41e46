package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/sandbox"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// TestChecked holds what a command sees only while it is what it was: what lies outside, and a root that another session of
// the process could replace, since it may write in the directory above it.
func TestChecked(t *testing.T) {
	t.Parallel()
	box := &sandbox.Box{}
	g := worktest.New(t, func(o *workspace.Options) { o.Commands.Sandbox = run.Sandboxing{Box: box} })
	outside := filepath.Join(t.TempDir(), "x")
	worktest.Put(t, outside, "x")
	info, err := os.Lstat(outside)
	if err != nil {
		t.Fatal(err)
	}
	grant := run.Grant{Outside: run.Outside{Readable: []sandbox.File{{Path: outside, Info: info}}}}
	if got := g.Runner().Checked(grant); len(got) != 1 || got[0].Path != outside {
		t.Errorf("without another session: %v", got)
	}
	box.Give(filepath.Dir(g.Cwd))
	root, err := os.Lstat(g.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Runner().Checked(grant); len(got) != 2 || got[0].Path != g.Cwd || !os.SameFile(got[0].Info, root) {
		t.Errorf("with a session above: %v", got)
	}
}
