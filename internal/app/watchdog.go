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
		guard := guard{core: c, argv: program.Argv, writable: writable}
		all = append(all, watchdog.External{
			Name: filepath.Base(program.Argv[0]), Timeout: program.Timeout.Duration, Run: guard.run,
		})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// guard is a program of the user's own that judges calls.
type guard struct {
	core     *core
	argv     []string
	writable []string
}

// guardStop bounds the wait for a guard that was killed. It keeps the answer to a
// cancel within its 200 ms; what is not gone by then is on its way.
const guardStop = 100 * time.Millisecond

// run starts the program, hands it the question, and returns what it printed. It
// gets the short environment of a tool's program, no directory of the session's,
// and is ended with all that it started.
func (g guard) run(ctx context.Context, call watchdog.Call, input []byte) ([]byte, error) {
	inside := slices.Concat(call.Roots, g.writable)
	env := launch.ProgramEnv(os.Environ(), launch.EnvOptions{Secrets: g.core.secrets(), Workspace: inside})
	program, ok := launch.FindProgram(g.argv[0], pathOf(env), inside)
	if !ok {
		return nil, fmt.Errorf("%s is not there, cannot be run, or lies where tools may write", g.argv[0])
	}
	return g.core.printed(ctx, launch.Spec{
		Argv: append([]string{program}, g.argv[1:]...), Dir: cmp.Or(g.core.sources.HomeDir, os.TempDir()), Env: env,
	}, input, watchdog.MaxAnswer+1, guardStop) // one more tells that it is too long
}

func pathOf(env []string) string {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); strings.EqualFold(name, "PATH") {
			return value
		}
	}
	return ""
}
