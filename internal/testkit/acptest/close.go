package acptest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// Close ends the agent as an editor does, by closing its input, and reports
// everything that is wrong with the run. Later calls do nothing.
func (a *Agent) Close() {
	a.tb.Helper()
	if a.markClosed() {
		return
	}
	if a.opts.Killed {
		_ = a.cmd.Process.Kill() // it may have ended
	}
	left := a.Running()
	closed := time.Now()
	if err := a.stdin.Close(); err != nil && !a.opts.Killed {
		a.problem("close the agent's input: %v", err)
	}
	err := a.Exit(5 * Slack(exitWithin))
	switch took := time.Since(closed); {
	case a.opts.Killed:
	case err != nil:
		a.problem("the agent did not exit well: %v", err)
	case took > Slack(exitWithin):
		a.problem("the agent took %s to exit once its input had ended", took.Round(time.Millisecond))
	}
	a.finish(left)
}

// markClosed reports whether Close was called before.
func (a *Agent) markClosed() (before bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, a.closed = a.closed, true
	return before
}

// Exit waits for the agent to end by itself, and returns how it did: nil is
// exit code 0. After the limit it is killed.
func (a *Agent) Exit(limit time.Duration) error {
	timer := time.AfterFunc(limit, func() { _ = a.cmd.Process.Kill() })
	defer timer.Stop()
	a.exit.Do(func() {
		a.read.Wait()
		a.exitErr = a.cmd.Wait()
	})
	if !timer.Stop() {
		return errors.New("it was still running after " + limit.String())
	}
	return a.exitErr
}

// CPU is what the agent used of the processors, once it is closed.
func (a *Agent) CPU() time.Duration {
	if a.cmd.ProcessState == nil {
		return 0
	}
	return a.cmd.ProcessState.UserTime() + a.cmd.ProcessState.SystemTime()
}

// Signal sends the agent a signal.
func (a *Agent) Signal(s os.Signal) error { return a.cmd.Process.Signal(s) }

// Deafen closes the client's end of the agent's output, as an editor does that was killed.
func (a *Agent) Deafen() { a.stdout.Close() }

// alarms are what must not stand on stderr: editors show it to the user, so that only errors are
// logged where a run does not ask for more.
func (a *Agent) alarms() []string {
	signs := []string{"DATA RACE", "panic", "goroutine "}
	if slices.ContainsFunc(a.opts.Env, func(entry string) bool { return strings.HasPrefix(entry, "ACP_AGENT_LOG=") }) {
		return signs
	}
	return append(signs, "level=DEBUG", "level=INFO", "level=WARN")
}

// finish reports what is wrong with the run. left are processes that must be
// gone by now.
func (a *Agent) finish(left Processes) {
	a.tb.Helper()
	within := startWithin
	if a.opts.Killed {
		within = leaveWithin
	}
	for _, p := range a.awaitAbandoned(left, within) {
		a.problem("a process is left: %s", p)
	}
	a.quit()
	a.served.Wait()
	if a.opts.Terminals != nil {
		for _, id := range a.opts.Terminals.close() {
			a.problem("%s was not released", id)
		}
	}
	for _, sign := range a.alarms() {
		if strings.Contains(a.Stderr(), sign) {
			a.problem("stderr has %q", sign)
		}
	}
	lines := a.Lines()
	problems := append(a.problems, Check(lines, !a.opts.Killed)...)
	if !a.opts.Unjudged {
		problems = append(problems, checkSchema(a.run, lines)...)
	}
	for _, problem := range problems {
		a.tb.Errorf("%s", problem)
	}
	if len(problems) > 0 {
		a.tb.Logf("the last lines:\n%s\nstderr:\n%.4000s", a.record.tail(30), a.Stderr())
	}
}

const (
	// leaveWithin is how long the processes of a killed agent may live on: its helpers need a moment to
	// notice, and one that had just been started may start its command first.
	leaveWithin = 2 * time.Second
	// startWithin is how long a process may live on that an agent was about to start when it ended: it is a
	// copy of the agent until it runs its program, which then ends at once.
	startWithin = 300 * time.Millisecond
)

// awaitAbandoned waits for what an agent leaves to end, and returns what has not.
func (a *Agent) awaitAbandoned(left Processes, within time.Duration) Processes {
	for deadline := time.Now().Add(Slack(within)); ; {
		alive := left.Alive()
		marked, orphans := a.abandoned()
		if alive = append(alive, marked...); len(alive)+len(orphans) == 0 || !time.Now().Before(deadline) {
			return alive
		}
		time.Sleep(10 * time.Millisecond) // no one tells us when foreign processes end
	}
}
