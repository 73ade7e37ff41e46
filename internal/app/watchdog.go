package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/config"
	"acp-agent/internal/launch"
	"acp-agent/permissions/watchdog"
)

// watchdog is what the user configured to judge each call (R121); nil when that
// is nothing. writable are directories besides a session's own where tools may
// write.
func (c *core) watchdog(from config.Watchdog, writable []string) watchdog.Watchdog {
	var all watchdog.All
	for _, name := range from.Policies {
		all = append(all, watchdog.Policies()[name]) // the configuration was checked
	}
	for _, program := range from.Commands {
		judge := judge{core: c, argv: program.Argv, writable: writable}
		all = append(all, watchdog.External{
			Name: filepath.Base(program.Argv[0]), Timeout: program.Timeout.Duration, Run: judge.run,
		})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// judge is a program of the user's own that judges calls.
type judge struct {
	core     *core
	argv     []string
	writable []string
}

// judgeStop bounds the wait for a judge that was killed. It keeps the answer to a
// cancel within its 200 ms; a process that is left by then has been sent KILL.
const judgeStop = 100 * time.Millisecond

// run starts the program, hands it the question, and returns what it printed. It
// gets the short environment of a tool's program, no directory of the session's,
// and is ended with all that it started.
func (j judge) run(ctx context.Context, call watchdog.Call, input []byte) ([]byte, error) {
	inside := slices.Concat(call.Roots, j.writable)
	env := launch.ProgramEnv(os.Environ(), launch.EnvOptions{Secrets: j.core.secrets(), Workspace: inside})
	program, ok := launch.FindProgram(j.argv[0], pathOf(env), inside)
	if !ok {
		return nil, fmt.Errorf("%s is not there, cannot be run, or lies where tools may write", j.argv[0])
	}
	return j.core.printed(ctx, launch.Spec{
		Argv: append([]string{program}, j.argv[1:]...), Dir: cmp.Or(j.core.sources.HomeDir, os.TempDir()), Env: env,
	}, input, watchdog.MaxAnswer+1, judgeStop) // one byte more shows that it is too long
}

func pathOf(env []string) string {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); strings.EqualFold(name, "PATH") {
			return value
		}
	}
	return ""
}
