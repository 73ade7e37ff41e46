package acptest

import (
	"os"
	"path/filepath"
	"runtime"
	"time"

	"acp-agent/internal/testkit/helpertest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// EnvProgram, when set, makes the test binary the program under test: TestMain
// of a package that uses Start has to look at it before anything else.
const EnvProgram = "ACPTEST_PROGRAM"

// EnvHelper names the program that the agent starts as its helper, see helpertest.
const EnvHelper = "ACPTEST_HELPER"

// envRun marks the agent's process and all that descend from it.
const envRun = "ACPTEST_RUN"

// TB is what the package needs of a test; *testing.T has it.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	TempDir() string
}

// Options say how the agent is started and how its requests are answered. The
// zero value is a client that has no capabilities and leaves permissions unanswered.
type Options struct {
	// Program is the binary; empty means this test binary, see EnvProgram.
	Program string
	Args    []string
	// Env are NAME=value entries on top of an environment with little more than
	// PATH and HOME; the last of a name counts.
	Env []string
	// Home is the agent's home, and the directory it is started in; empty means
	// a temporary one.
	Home string
	// Model is the text of a model script; empty means none.
	Model string

	// Permission is called on a goroutine of its own for each permission
	// request; nil leaves them to NextPermission.
	Permission func(*Permission)
	// Files serves fs/*, Terminals terminal/*; nil leaves them unanswered. What
	// the agent is told of them is up to Initialize.
	Files     *Files
	Terminals *Terminals

	// Stderr is the agent's standard error; nil has it kept for Agent.Stderr.
	Stderr *os.File

	// Patience is how long a test that waits for a message lets the agent be silent; zero
	// means a minute.
	Patience time.Duration

	// Played is called with the lines of a script that was played to its end, and the home of
	// its agent.
	Played func(lines []Line, home string)

	// Unjudged leaves out the check of each line against the schema, for runs of very many lines. The
	// other rules are checked.
	Unjudged bool
	// Killed says that the test ends the agent by force: how it exits is not
	// judged, nor is what that leaves unanswered.
	Killed bool
}

// Deadlines. Waiting costs nothing when all is well, so patience is long.
const (
	patience = time.Minute
	// exitWithin is how soon the agent has to be gone once its input has ended.
	exitWithin = 3 * time.Second
)

// patience is how long a test of these options bears silence.
func (o *Options) patience() time.Duration {
	if o.Patience > 0 {
		return Slack(o.Patience)
	}
	return patience
}

// Slack is [testreq.Slack].
func Slack(d time.Duration) time.Duration { return testreq.Slack(d) }

// environ is the environment of the agent.
func (o *Options) environ(tb TB, home, run, script string) []string {
	env := []string{
		"HOME=" + home, "USERPROFILE=" + home, envRun + "=" + run,
		// Without this a process with the race detector sleeps for a second
		// before it exits.
		"GORACE=atexit_sleep_ms=0",
	}
	for _, name := range []string{"PATH", "LANG", "SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "TMPDIR", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			if name == "PATH" { // the tool lsp is there on every machine, and so in each list of tools
				value += string(filepath.ListSeparator) + testfile.Repository(tb, "testdata", "programs")
			}
			env = append(env, name+"="+value)
		}
	}
	if runtime.GOOS == "windows" {
		env = append(env, "LOCALAPPDATA="+filepath.Join(home, "local"), "APPDATA="+filepath.Join(home, "roaming"))
	}
	if o.Program == "" {
		env = append(env, EnvProgram+"=1", EnvHelper+"="+helpertest.Path())
	}
	if script != "" {
		env = append(env, "ACP_AGENT_MODEL_SCRIPT="+script)
	}
	return append(env, o.Env...)
}
