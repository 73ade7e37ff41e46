package agenttest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/app"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/helpertest"
)

// Hello is a model script that answers every prompt.
const Hello = `{"say": "Here.", "repeat": -1}`

// EnvFirstWait names the variable with how long the first prompt waits for sources of tools, as a
// duration, for tests of sources that do not answer.
const EnvFirstWait = "ACP_TEST_FIRST_WAIT"

// patientWait is how long the first prompt waits without EnvFirstWait: a machine with much other
// work may take long to start an interpreter.
const patientWait = 30 * time.Second

// Main is the TestMain of a package that starts the agent: where a test has started the
// test binary as the agent, it runs that, and the tests otherwise. It calls after when
// they have ended. Two parallel tests run at a time for each processor, for much of what they
// take is waiting, unless -parallel says how many.
func Main(m *testing.M, after ...func()) { run(m, 2, after) }

// MainBusy is Main for tests that keep a processor busy, one at a time for each.
func MainBusy(m *testing.M, after ...func()) { run(m, 1, after) }

// run is Main with perProcessor tests at a time for each processor.
func run(m *testing.M, perProcessor int, after []func()) {
	if app.IsHelper() {
		// At os.Exit the race detector sleeps for a second; a helper's environment is
		// empty, so that it cannot be told not to.
		syscall.Exit(app.Main(app.StandIns{}))
	}
	if os.Getenv(acptest.EnvProgram) == "" {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(400) // what the tests hold is small, and soon gone
		}
		_ = flag.Set("test.parallel", strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))) // a flag of every test binary
		code := m.Run()
		helpertest.Remove()
		for _, f := range after {
			f()
		}
		os.Exit(code)
	}
	with := app.StandIns{Helper: os.Getenv(acptest.EnvHelper)}
	for _, name := range []string{acptest.EnvProgram, acptest.EnvHelper} {
		os.Unsetenv(name) // commands must not see them
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
