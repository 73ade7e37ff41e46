//go:build unix

package rpc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// Stderr is standard error, held so that nothing which is printed can stop the process.
// Descriptor 2 leads into a pipe of our own that refuses what it has no room for, and a
// goroutine passes on what comes out. Without it a stray print, by us or by a library,
// waits for ever for a reader that does not read, and one whose reader is gone ends the
// process by SIGPIPE, as Go does for descriptors 1 and 2 alone.
//
// Go writes the trace of a crash to descriptor 2 and then dies with what is in the pipe.
// So the trace is also written to standard error itself.
type Stderr struct {
	*os.File          // standard error, which children do not inherit
	pipe     *os.File // what is printed to descriptor 2 comes out here
	ended    chan struct{}
}

// TakeStderr takes standard error over for this process. Call it once, before TakeStdout
// and before anything else is started. Relay, and in the end Restore, have to follow.
func TakeStderr() (*Stderr, error) {
	private, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("duplicate standard error: %w", err)
	}
	s := &Stderr{File: os.NewFile(uintptr(private), "standard error"), ended: make(chan struct{})}
	if err := s.redirect(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	crash := s.crashOutput()
	_ = debug.SetCrashOutput(crash, debug.CrashOptions{}) // an error costs the trace, and no more
	if crash != s.File {
		_ = crash.Close() // the runtime holds a descriptor of its own
	}
	return s, nil
}

// Relay passes what is printed to descriptor 2 to a writer that does not wait. It starts
// the goroutine that Restore ends.
func (s *Stderr) Relay(to io.Writer) {
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(to, s.pipe) // it ends with the last writer
	}()
}

// redirect points descriptor 2 at the pipe. os.Pipe makes the pipe non-blocking; it is
// shared with no other process.
func (s *Stderr) redirect() error {
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe for standard error: %w", err)
	}
	defer in.Close()
	if err := pointAt(in, 2); err != nil {
		return errors.Join(fmt.Errorf("point standard error at a pipe: %w", err), out.Close())
	}
	s.pipe = out
	return nil
}

// restoreWithin bounds the wait for what is in the pipe.
const restoreWithin = 100 * time.Millisecond

// Restore points descriptors 1 and 2 at standard error again, and waits for a short time
// until what they were sent before is passed on.
func (s *Stderr) Restore() {
	_, _ = pointAt(s.File, 2), pointAt(s.File, 1)
	_ = s.pipe.SetReadDeadline(time.Now().Add(restoreWithin))
	<-s.ended
	_ = s.pipe.Close() // it was only read
}

// pointAt makes a descriptor a copy of a file's, whose mode stays as it is.
func pointAt(file *os.File, descriptor int) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = redirect(int(fd), descriptor) })
	return errors.Join(err, failed)
}
