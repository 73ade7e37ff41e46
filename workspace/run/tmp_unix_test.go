//go:build unix

package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// TestRun_ReadingTmp holds that each command that only reads has a directory for temporary
// files of its own, that the next one's is ready, and that a used one is removed.
func TestRun_ReadingTmp(t *testing.T) {
	w := worktest.New(t)
	dir := filepath.Join(filepath.Dir(w.Session().Scratch), "reading")
	var ready []string
	for range 3 {
		call := w.Start(t)
		call.Commands().Grant(run.Grant{Reading: true})
		// Without a sandbox the command sees the directories.
		leave := "for own in " + dir + "/*; do : > $own/left; done"
		if exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: leave, Dir: w.Cwd}, nil); err != nil || exit.Code != 0 {
			t.Fatal(exit, err)
		}
		w.Runner().WaitForCleanups()
		dirs, err := filepath.Glob(dir + "/*")
		if err != nil || len(dirs) != 1 || slices.Contains(ready, dirs[0]) {
			t.Fatalf("there are %v after %v, %v; want one that is new", dirs, ready, err)
		}
		files, err := os.ReadDir(dirs[0])
		if err != nil || len(files) != 1 || files[0].Name() != "own" {
			t.Errorf("in the directory that is ready: %v, %v", files, err)
		}
		ready = append(ready, dirs[0])
	}
	w.Close(0)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("after the session: %v", err)
	}
}
