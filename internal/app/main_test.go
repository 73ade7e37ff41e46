package app

import (
	"os"
	"syscall"
	"testing"
)

// TestMain makes the test binary a helper of the agent where the agent started it as one.
// Tests of the whole program are in internal/e2e.
func TestMain(m *testing.M) {
	if IsHelper() {
		syscall.Exit(Main(StandIns{})) // os.Exit sleeps for a second under the race detector
	}
	os.Exit(m.Run())
}
