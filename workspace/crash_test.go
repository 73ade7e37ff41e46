package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"acp-agent/tools"
)

// crashEnv names the step at which the test binary kills itself in the middle
// of a write.
const crashEnv = "WORKSPACE_CRASH_AT"

// crash writes over "file" in a session of dir and dies at the step.
func crash(step, dir string) int {
	w, err := New(Options{
		SessionID: "ses_crash", fault: func(s string) error {
			if s != step {
				return nil
			}
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				return err
			}
			select {}
		},
		Directories: Directories{Cwd: filepath.Join(dir, "work"), State: filepath.Join(dir, "state")},
	})
	if err != nil {
		return 2
	}
	c := w.Call("call_1", "write", nil)
	if c.FS().WriteText(c.over, "file", "new", &tools.Text{Content: "old", Exists: true}) != nil {
		return 3
	}
	return 0
}

// TestWriteText_Crash kills the process at each step of a write: the file is
// the old or the new one, whole, and the next start leaves nothing behind.
func TestWriteText_Crash(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[string]string{
		"preimage": "old", "syncimage": "old", "create": "old", "write": "old", "chmod": "old", "sync": "old", "rename": "old", "syncdir": "new",
	} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			path := put(t, filepath.Join(dir, "work", "file"), "old")
			if err := os.Chmod(path, 0o750); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, dir)
			cmd.Env = append(os.Environ(), crashEnv+"="+step)
			if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() > 1 {
				t.Fatalf("the process ended with %v", cmd.ProcessState)
			}
			same(t, "content", get(t, path), want)
			// The first step of all may come before there is a directory to sweep.
			state := filepath.Join(dir, "state")
			there, err := os.ReadDir(state)
			if step != "preimage" && (err != nil || len(there) != 1) {
				t.Errorf("the process left %v, %v", there, err)
			}
			if removed, err := Sweep(state); removed != len(there) || err != nil {
				t.Errorf("Sweep = %d, %v, of %d", removed, err, len(there))
			}
			if left, _ := os.ReadDir(state); len(left) != 0 {
				t.Errorf("Sweep left %v", left)
			}
			entries, err := os.ReadDir(filepath.Join(dir, "work"))
			if err != nil || len(entries) != 1 {
				t.Errorf("left beside the file: %v, %v", entries, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}
