//go:build linux || darwin

package launch

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helperAttr gives the helper a session of its own, so that a key pressed in
// the agent's terminal reaches the agent alone.
func helperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// relaySignals turns the signals that ask a process to end into stop requests, until end is called: a helper that
// waits for a command ends by them. end reports whether one came that ended nothing.
// Catching them has a second use: a signal that the editor had ignored is not
// ignored in the shell, and a broken pipe does not kill the helper.
func relaySignals(stops chan<- time.Duration) (end func() (late bool)) {
	c, brokenPipe := make(chan os.Signal, 8), make(chan os.Signal, 1)
	ended, late := make(chan struct{}), make(chan bool, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	signal.Notify(brokenPipe, syscall.SIGPIPE)
	go func() { // until end
		for {
			select {
			case <-c:
				select {
				case stops <- StopGrace:
				case <-ended:
					late <- true
					return
				}
			case <-ended:
				late <- len(c) > 0
				return
			}
		}
	}()
	return sync.OnceValue(func() bool {
		signal.Stop(c) // after which none comes any more
		signal.Stop(brokenPipe)
		close(ended)
		return <-late
	})
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

// hand makes a file the next descriptor of the helper that cmd will start.
func hand(cmd *exec.Cmd, f *os.File) (uintptr, error) {
	const first = 3 // after the standard ones
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	return uintptr(first + len(cmd.ExtraFiles) - 1), nil
}
