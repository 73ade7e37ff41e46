package agenttest

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/app"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/helpertest"
)

// Hello is a model script that answers every prompt.
const Hello = `{"say": "Here.", "repeat": -1}`

// EnvFirstWait is how long the first prompt waits for sources of tools, as a duration, for
// tests of sources that do not answer. Otherwise it waits as long as a machine with much
// other work may take to start an interpreter.
const EnvFirstWait = "ACP_TEST_FIRST_WAIT"

// patientWait is how long the first prompt waits without EnvFirstWait.
const patientWait = 30 * time.Second

// Main is the TestMain of a package that starts the agent: where a test has started the
// test binary as the agent, it runs that, and the tests otherwise. It calls after when
// they have ended.
func Main(m *testing.M, after ...func()) {
	if app.IsHelper() {
		// At os.Exit the race detector sleeps for a second; a helper's environment is
		// empty, so that it cannot be told not to.
		syscall.Exit(app.Main(app.StandIns{}))
	}
	if os.Getenv(acptest.EnvProgram) == "" {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400) // what the tests hold is small, and soon gone
		}
		code := m.Run()
		helpertest.Remove()
		for _, f := range after {
			f()
		}
		os.Exit(code)
	}
	with := app.StandIns{Helper: os.Getenv(acptest.EnvHelper)}
	for _, name := range []string{acptest.EnvProgram, acptest.EnvHelper} {
		os.Unsetenv(name) // commands must not see it
	}
	with.FirstWait = patientWait
	if limit, err := time.ParseDuration(os.Getenv(EnvFirstWait)); err == nil {
		with.FirstWait = limit
	}
	if os.Getenv(EnvTools) != "" {
		with.Tools = oddTools
	}
	if kind := os.Getenv(EnvSandbox); kind != "" {
		with.Sandbox = pretendSandbox(kind)
	}
	reportVitals()
	os.Exit(app.Main(with))
}
