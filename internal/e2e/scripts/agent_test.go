package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/helpertest"
)

// agent runs the program with arguments, as a user would in a terminal but
// without one: `agent validate x`. It must end with exit code 0, with `! agent`
// with 1, and with `agent =CODE …` with that. The home is $WORK/home; what the
// script said with stdin is its input.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	want := 0
	if neg {
		want = 1
	}
	if code, given := strings.CutPrefix(args[0], "="); given && !neg {
		var err error
		want, err = strconv.Atoi(code)
		ts.Check(err)
		args = args[1:]
	}
	self, err := os.Executable()
	ts.Check(err)
	home := filepath.Join(ts.Getenv("WORK"), "home")
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home, "APPDATA": home, acptest.EnvProgram: "1", acptest.EnvHelper: helpertest.Path(), "GORACE": "atexit_sleep_ms=0",
	} {
		ts.Setenv(name, value)
	}
	got, exit := 0, (*exec.ExitError)(nil)
	if err := ts.Exec(self, args...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
