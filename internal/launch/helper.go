package launch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"
)

// Step restricts the shell before it starts: this is where a sandbox goes. The
// steps run in order, in the helper, on the locked OS thread that then starts
// the shell. A step may change what is started, or restrict that thread alone, as
// Landlock and no_new_privs do: the helper's other threads still have to find
// and kill the command's processes. An error means that the shell is not started.
type Step func(*Start) error

// Helper is the main of the helper process: internal/app calls it before
// anything else when its first argument is [HelperArg], with the arguments
// after that one, and exits with its result. Without arguments it serves
// [Launcher.StartStreams]; `--spec FILE` is the form of [Launcher.PrepareTerminal],
// which exits as the command did.
func Helper(args []string, steps ...Step) int {
	switch {
	case len(args) == 0:
		return helpLocal(steps)
	case len(args) == 2 && args[0] == specFlag:
		return helpTerminal(args[1], steps)
	}
	fmt.Fprintf(os.Stderr, "acp-agent %s: started by the agent itself, not by hand\n", HelperArg)
	return exitUsage
}

const (
	specFlag = "--spec"

	exitUsage  = 2
	exitFailed = 125 // as env and timeout use it: the command was never run
)

// helpLocal serves an agent that holds our three standard descriptors.
func helpLocal(steps []Step) int {
	control := bufio.NewReader(os.Stdin)
	containErr := contain() // now, because the command may come much later (see [Launcher.Warm])
	fillJSONCaches()
	line, err := control.ReadBytes('\n')
	if err != nil {
		return exitFailed // the agent has ended, or has no command: no one reads a report
	}
	h := helper{steps: steps, control: control, status: os.Stderr, files: stdio{out: os.Stdout}}
	spec, c, err := decodeSpec(line)
	if err = cmp.Or(containErr, err); err != nil {
		h.report(record{Error: err.Error()})
		return exitFailed
	}
	h.files.in, h.files.err = c.inherited()
	if _, ok := h.run(spec); !ok {
		return exitFailed
	}
	return 0
}

// fillJSONCaches has the JSON package learn the types of a spec and a record before the command
// comes, so that the command does not wait for it.
func fillJSONCaches() {
	_, _, _ = decodeSpec([]byte("{}"))
	record{}.line()
}

// helper is what the helper's process holds.
type helper struct {
	steps   []Step
	control *bufio.Reader
	status  *os.File
	files   stdio
	tee     func() // ends when the output has ended; nil if nothing stands between
}

// report writes one record. A false result says that the agent is gone.
func (h *helper) report(r record) bool {
	_, err := h.status.Write(r.line())
	return err == nil
}

// run runs the command to the end of its tree and output, and reports it. The
// result is false if the command was not run. The helper is contained already.
func (h *helper) run(spec Spec) (Status, bool) {
	stops := make(chan time.Duration)
	relaySignals(stops)
	go readStops(h.control, stops) // lives as long as the process
	if !h.report(record{Helper: os.Getpid()}) {
		return Status{}, false
	}
	t, err := startTree(spec, h.files, h.steps)
	h.files.close()
	if err != nil {
		h.report(record{Error: startError(spec, err)})
		return Status{}, false
	}
	copied := h.startTee()
	h.report(record{Shell: t.shell})
	status, stopped := t.awaitEnd(spec.Limits, stops)
	awaitTee(copied, stopped || status.Survivors > 0, stops)
	h.report(record{Status: &status})
	return status, true
}

// startTee returns what is closed when all output is copied.
func (h *helper) startTee() <-chan struct{} {
	copied := make(chan struct{})
	if h.tee == nil {
		close(copied)
		return copied
	}
	go func() {
		defer close(copied)
		h.tee()
	}()
	return copied
}

// awaitTee waits until all output is copied, unless no one wants it any more:
// a terminal that does not read must not keep the helper alive.
func awaitTee(copied <-chan struct{}, unwanted bool, stops <-chan time.Duration) {
	var limit <-chan time.Time
	if unwanted {
		limit = time.After(drainIdle)
	}
	select {
	case <-copied:
	case <-limit:
	case <-stops:
	}
}

// startError says what could not be started. The kernel's answer is the same whether the
// shell or the directory is missing.
func startError(spec Spec, err error) string {
	if info, serr := os.Stat(spec.Dir); serr != nil {
		return serr.Error()
	} else if !info.IsDir() {
		return fmt.Sprintf("%q is not a directory", spec.Dir)
	}
	var step stepError
	if errors.As(err, &step) {
		return step.Error()
	}
	return fmt.Sprintf("%q: %v", spec.program(), err)
}

// stepError is the failure of a Step, which has nothing to do with the shell.
type stepError struct{ error }
