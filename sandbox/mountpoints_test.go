package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// holdEnv makes the test binary a process that makes directories and is killed: it names
// the directory of the claims.
const holdEnv = "SANDBOX_HOLD"

// holdAndDie makes the directories and never lets go of them.
func holdAndDie(claims string, dirs []string) {
	var h mountPoints
	h.acquire(claims, dirs)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// heldGround is a project and a directory for claims.
func heldGround(t *testing.T) (claims string, dirs []string) {
	t.Helper()
	top := t.TempDir()
	project := filepath.Join(top, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(top, "held"), []string{
		filepath.Join(project, ".config"), filepath.Join(project, ".config", "agents"), filepath.Join(project, ".agents"),
	}
}

func there(dirs []string) int {
	n := 0
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err == nil {
			n++
		}
	}
	return n
}

func killedHolder(t *testing.T, claims string, dirs []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, dirs...)
	cmd.Env = append(os.Environ(), holdEnv+"="+claims)
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process ended with %v", cmd.ProcessState)
	}
}

// TestHolding_Shared has two processes need the same directories: the last one removes
// them, for what is mounted on a directory goes with it.
func TestHolding_Shared(t *testing.T) {
	t.Parallel()
	claims, dirs := heldGround(t)
	var one, other mountPoints
	first := one.acquire(claims, dirs)
	again := one.acquire(claims, dirs)
	second := other.acquire(claims, dirs)
	if there(dirs) != len(dirs) {
		t.Fatal("not all directories were made")
	}
	first()
	again()
	if there(dirs) != len(dirs) {
		t.Error("a directory was removed that another process needs")
	}
	sweepClaims(claims)
	if there(dirs) != len(dirs) {
		t.Error("a directory was swept that a living process needs")
	}
	second()
	if n := there(dirs); n != 0 {
		t.Errorf("%d directories are left", n)
	}
	if err := os.Mkdir(dirs[0], 0o755); err != nil {
		t.Fatal(err)
	}
	other.acquire(claims, dirs)()
	if n := there(dirs); n != 1 {
		t.Errorf("%d directories are there, want the user's own", n)
	}
	one.own.close()
	other.own.close()
	if entries, err := os.ReadDir(claims); err != nil || len(entries) != 1 {
		t.Errorf("claims %v, %v", entries, err)
	}
}

// TestHolding_Killed kills a process that has made directories: the next start removes
// the empty ones that no living process needs, and nothing of the user's.
func TestHolding_Killed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		// meanwhile happens between the kill and the next start.
		meanwhile func(t *testing.T, claims string, dirs []string)
		left      []int // of the directories
	}{
		{name: "empty"},
		{name: "removed by the user", meanwhile: func(t *testing.T, _ string, dirs []string) {
			if err := os.Remove(dirs[2]); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "in use by the user", left: []int{0, 1}, meanwhile: func(t *testing.T, _ string, dirs []string) {
			if err := os.WriteFile(filepath.Join(dirs[1], "a.md"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "in use by another process", left: []int{2}, meanwhile: func(t *testing.T, claims string, dirs []string) {
			var other mountPoints
			t.Cleanup(other.acquire(claims, dirs[2:]))
		}},
		{name: "killed twice", meanwhile: killedHolder},
		{name: "a claim that was not written to its end", meanwhile: func(t *testing.T, claims string, _ []string) {
			if err := os.WriteFile(filepath.Join(claims, "x"+claimsSuffix), []byte(`{"dir":"/et`), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a claim of what was never made", meanwhile: func(t *testing.T, claims string, dirs []string) {
			line := `{"dir":"` + filepath.Join(dirs[2], "never") + `"}` + "\n"
			if err := os.WriteFile(filepath.Join(claims, "x"+claimsSuffix), []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			claims, dirs := heldGround(t)
			killedHolder(t, claims, dirs)
			if there(dirs) != len(dirs) {
				t.Fatal("the process made no directories")
			}
			if tt.meanwhile != nil {
				tt.meanwhile(t, claims, dirs)
			}
			box := Box{ClaimsDir: claims}
			box.Sweep()
			for i, dir := range dirs {
				if _, err := os.Lstat(dir); (err == nil) != slices.Contains(tt.left, i) {
					t.Errorf("%s: %v", dir, err)
				}
			}
			for _, claim := range readClaims(claims, nil) {
				if !claim.alive {
					t.Errorf("the claims of a dead process are left: %v", claim)
				}
			}
		})
	}
}
