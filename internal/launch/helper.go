package launch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
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

// helpLocal serves an agent that holds our standard descriptors.
func helpLocal(steps []Step) int {
	containErr := contain() // now, because the command may come much later (see [Launcher.Warm])
	fillJSONCaches()
	h := helper{steps: steps, status: os.Stderr, stops: make(chan stop), limits: readOwnLimits()}
	h.relaySignals()
	orders := make(chan order)
	go h.readOrders(newControlReader(), orders) // lives as long as the process
	for h.waits = true; h.waits; {
		o, ok := h.await(orders)
		if !ok {
			return exitFailed // the agent has ended, or has no command: no one reads a report
		}
		err := containErr
		if err == nil {
			err = h.serve(o)
		}
		if err != nil {
			h.report(record{Error: err.Error()})
			return exitFailed
		}
	}
	return 0
}

// order is a line that asks for a command, with what came with it.
type order struct {
	line    []byte
	streams []*os.File
}

// readOrders reads the control channel until the agent is gone, which it tells as a stop, and then as the end of
// the orders.
func (h *helper) readOrders(control *controlReader, orders chan<- order) {
	defer close(orders)
	readStops(bufio.NewReader(control), h.stops, func(line []byte) { orders <- order{line, control.take()} })
}

// await returns the next order; false when the agent is gone, or a signal asks the helper to end. A stop request that comes before
// it was for a command that has ended meanwhile.
func (h *helper) await(orders <-chan order) (order, bool) {
	for {
		select {
		case o, ok := <-orders:
			return o, ok && !h.signalled.Load()
		case <-h.stops:
			if h.signalled.Load() {
				return order{}, false
			}
		}
	}
}

// serve runs a command to its end. An error means that there was none.
func (h *helper) serve(o order) error {
	spec, c, err := decodeSpec(o.line)
	if err != nil {
		return err
	}
	if h.files, err = c.stdio(o.streams); err != nil {
		return err
	}
	_, err = h.run(spec)
	return err
}

// fillJSONCaches has the JSON package learn the types of a spec and a record before the command
// comes, so that the command does not wait for it.
func fillJSONCaches() {
	_, _, _ = decodeSpec([]byte("{}"))
	record{}.line()
}

// stop asks for the end of the command within a grace.
type stop struct{ grace time.Duration }

// helper is what the helper's process holds.
type helper struct {
	steps  []Step
	status *os.File
	stops  chan stop

	files stdio  // of the command
	tee   func() // ends when the output has ended; nil if nothing stands between
	waits bool   // there may be another command

	limits ownLimits // at our start: the next command gets them

	// signalled says that a signal asked for our end. It ends at most the command that runs, which may have sent it, and
	// there is no further one.
	signalled atomic.Bool
}

// report writes one record. A false result says that the agent is gone.
func (h *helper) report(r record) bool {
	_, err := h.status.Write(r.line())
	return err == nil
}

// run runs the command to the end of its tree and output, and reports it. An error means that
// the command was not run. The helper is contained already.
func (h *helper) run(spec Spec) (Status, error) {
	if !h.report(record{Helper: os.Getpid()}) {
		return Status{}, errors.New("launch: the agent is gone")
	}
	t, err := startTree(spec, h.files, h.steps)
	h.files.close()
	if err != nil {
		return Status{}, errors.New(startError(spec, err))
	}
	copied := h.startTee()
	h.report(record{Shell: t.shell})
	status, stopped := t.awaitEnd(spec.Limits, h.stops)
	awaitTee(copied, stopped || status.Survivors > 0, h.stops)
	h.waits = h.waits && !spec.Alone && t.nothingLeft(status) && !h.signalled.Load() && readOwnLimits() == h.limits
	h.report(record{Status: &status, Waits: h.waits})
	t.release() // now, because the agent does not wait for a thread to end
	return status, nil
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
func awaitTee(copied <-chan struct{}, unwanted bool, stops <-chan stop) {
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
