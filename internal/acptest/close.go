package acptest

import (
	"errors"
	"os/exec"
	"strings"
	"time"
)

// Close ends the agent as an editor does, by closing its input, and reports
// everything that is wrong with the run. Later calls do nothing.
func (a *Agent) Close() {
	a.tb.Helper()
	if !a.end() {
		return
	}
	left := a.descendants()
	closed := time.Now()
	if err := a.stdin.Close(); err != nil {
		a.problem("close the agent's input: %v", err)
	}
	limit := time.AfterFunc(5*Slack(exitWithin), func() { _ = a.cmd.Process.Kill() })
	a.read.Wait()
	err := a.cmd.Wait()
	limit.Stop()
	took := time.Since(closed)
	switch {
	case a.opts.Killed:
	case err != nil:
		a.problem("the agent did not exit well: %v", err)
	case took > Slack(exitWithin):
		a.problem("the agent took %s to exit once its input had ended", took.Round(time.Millisecond))
	}
	a.finish(left)
}

// Kill ends the agent by force; Options.Killed has to be set.
func (a *Agent) Kill() {
	a.tb.Helper()
	if !a.end() {
		return
	}
	left := a.descendants()
	_ = a.cmd.Process.Kill() // it may have ended
	a.read.Wait()
	if err := a.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		a.problem("wait for the agent: %v", err)
	}
	a.stdin.Close()
	a.finish(left)
}

// end reports whether the agent was still to be ended.
func (a *Agent) end() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := !a.closed
	a.closed = true
	return first
}

// finish reports what is wrong with the run. left are processes that must be
// gone by now.
func (a *Agent) finish(left []process) {
	a.tb.Helper()
	if a.opts.Killed {
		awaitEnd(a, left) // the kernel and the helpers need a moment
	}
	for _, p := range a.running(left) {
		a.problem("a process is left: %s", p)
	}
	a.quit()
	a.served.Wait()
	if a.opts.Terminals != nil {
		for _, id := range a.opts.Terminals.close() {
			a.problem("%s was not released", id)
		}
	}
	for _, sign := range []string{"DATA RACE", "panic", "goroutine "} {
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

// leaveWithin is how long the processes of a killed agent may live on.
const leaveWithin = 2 * time.Second

func awaitEnd(a *Agent, left []process) {
	for deadline := time.Now().Add(Slack(leaveWithin)); time.Now().Before(deadline) && len(a.running(left)) > 0; {
		time.Sleep(10 * time.Millisecond) // nobody tells us when foreign processes end
	}
}
