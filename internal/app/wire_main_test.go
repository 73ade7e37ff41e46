package app

import (
	"os"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// TestMain makes the test binary the program itself where a test has started
// it as that: so the tests run the real main, built once, with the race
// detector when they have it.
func TestMain(m *testing.M) {
	if IsHelper() {
		// The product ends with os.Exit, where the race detector sleeps for a second;
		// the helper's environment is empty, so it cannot be told not to.
		syscall.Exit(Main(StandIns{}))
	}
	if os.Getenv(acptest.EnvProgram) != "" {
		os.Unsetenv(acptest.EnvProgram) // commands must not see it
		var with StandIns
		if os.Getenv(envForeignTools) != "" {
			with.Tools = foreignTools
		}
		if kind := os.Getenv(envSandbox); kind != "" {
			with.Sandbox = pretendSandbox(kind)
		}
		reportVitals()
		os.Exit(Main(with))
	}
	os.Exit(m.Run())
}
