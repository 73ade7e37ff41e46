package main

import (
	"os"
	"syscall"
	"testing"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/sandbox"
)

// TestMain makes the test binary the program itself where a test has started
// it as that: so the tests run the real main, built once, with the race
// detector when they have it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == launch.HelperArg {
		// main does the same, but with os.Exit, where the race detector sleeps
		// for a second; the helper's environment is empty, so it cannot be told
		// not to.
		syscall.Exit(launch.Helper(os.Args[2:], sandbox.Step))
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.InnerArg {
		syscall.Exit(sandbox.Inner(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.CanaryArg {
		syscall.Exit(sandbox.Canary(os.Args[2:], os.Stdout))
	}
	if os.Getenv(acptest.EnvProgram) != "" {
		os.Unsetenv(acptest.EnvProgram) // commands must not see it
		if os.Getenv(envForeignTools) != "" {
			testHookTools = foreignTools
		}
		if kind := os.Getenv(envSandbox); kind != "" {
			testHookSandbox = pretendSandbox(kind)
		}
		reportVitals()
		main()
	}
	os.Exit(m.Run())
}
