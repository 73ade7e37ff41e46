//go:build unix

package rpc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// TakeStdout returns a private handle of standard output, which child processes do not
// inherit, and points file descriptor 1 at standard error. Whatever prints to standard
// output afterwards, this process, a library or a child, can no longer get between the
// messages of the protocol (R145). Call it once, before anything else is started.
func TakeStdout() (*os.File, error) {
	private, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("duplicate standard output: %w", err)
	}
	if err := redirect(2, 1); err != nil {
		_ = unix.Close(private)
		return nil, fmt.Errorf("point standard output at standard error: %w", err)
	}
	return os.NewFile(uintptr(private), "protocol output"), nil
}
