package rpc

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TakeStdout returns a private handle of standard output, which child processes do not
// inherit, and points standard output at standard error, for this process and for the
// children that it starts with inherited handles. Whatever prints to standard output
// afterwards can no longer get between the messages of the protocol (R145). Call it
// once, before anything else is started.
func TakeStdout() (*os.File, error) {
	self := windows.CurrentProcess()
	var private windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(os.Stdout.Fd()), self, &private,
		0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, fmt.Errorf("duplicate standard output: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		_ = windows.CloseHandle(private)
		return nil, fmt.Errorf("point standard output at standard error: %w", err)
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(private), "protocol output"), nil
}
