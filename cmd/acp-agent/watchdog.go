package main

import (
	"bytes"
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

// watchdog is what the person configured to judge each call (R121); nil when that
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

// guard is a program of the person's own that judges calls.
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
	out, errs := answer{limit: watchdog.MaxAnswer + 1}, answer{limit: maxGuardError}
	process, err := g.core.launcher.StartStreams(ctx, launch.Spec{
		Argv: append([]string{program}, g.argv[1:]...), Dir: cmp.Or(g.core.sources.HomeDir, os.TempDir()), Env: env,
	}, launch.Streams{Input: input, Output: &out, Errors: &errs})
	if err != nil {
		return nil, err
	}
	status, err := process.Wait(ctx)
	if err != nil {
		process.Stop(0)
		select {
		case <-process.Done():
		case <-time.After(guardStop):
		}
		return nil, err
	}
	if status.ExitCode != 0 {
		return nil, fmt.Errorf("it ended with exit code %d: %s", status.ExitCode, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// maxGuardError bounds what is kept of the errors of a guard.
const maxGuardError = 1 << 10

func pathOf(env []string) string {
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); strings.EqualFold(name, "PATH") {
			return value
		}
	}
	return ""
}

// answer keeps the first bytes of what is written, and takes the rest.
type answer struct {
	bytes.Buffer
	limit int
}

// Write takes everything and keeps what there is room for.
func (a *answer) Write(p []byte) (int, error) {
	if room := a.limit - a.Len(); room > 0 {
		a.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
