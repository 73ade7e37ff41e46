//go:build linux || darwin

package launch

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperAttr gives the helper a session of its own, so that a key pressed in
// the agent's terminal reaches the agent alone.
func helperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// relaySignals turns the signals that ask a process to end into stops.
// Catching them has a second use: a signal that the editor had ignored is not
// ignored in the shell, and a broken pipe does not kill the helper.
func (h *helper) relaySignals() {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE)
	go func() { // lives as long as the process
		for s := range c {
			if s != syscall.SIGPIPE {
				h.signalled.Store(true) // at once: who takes the stop may be the next command
				h.stops <- stop{grace: StopGrace}
			}
		}
	}()
}

// sealDescriptors keeps every descriptor but the standard three from the shell:
// an editor may have left some of its own open in us (X2).
func sealDescriptors(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// wake lets a helper run on that the command has stopped.
func wake(helper int) {
	if helper > 1 {
		_ = syscall.Kill(helper, syscall.SIGCONT)
	}
}

// killTree kills everything below a helper that does not do so itself, and
// then the helper. Its processes stay below it as long as it lives.
func killTree(helper int) {
	const rounds = 100
	for range rounds {
		rest := descendants(helper, 0)
		if len(rest) == 0 {
			break
		}
		for _, pid := range rest {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(killPause)
	}
	_ = syscall.Kill(helper, syscall.SIGKILL)
}
