package agenttest

import (
	"os"
	"os/exec"

	"acp-agent/internal/testkit/acptest"
)

// Replay replays a recording by the test binary in an empty home, without programs on the PATH. It
// returns what that printed and its exit code. [Main] has to be the TestMain of the package.
func Replay(tb acptest.TB, file string) (out string, code int) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatalf("find the test binary: %v", err)
	}
	home := tb.TempDir()
	cmd := exec.Command(self, "replay", file)
	cmd.Dir = home
	cmd.Env = []string{acptest.EnvProgram + "=1", "HOME=" + home, "PATH=/nonexistent", "TMPDIR=" + home, "GORACE=atexit_sleep_ms=0"}
	text, _ := cmd.CombinedOutput() // its exit code says how it ended
	return string(text), cmd.ProcessState.ExitCode()
}
