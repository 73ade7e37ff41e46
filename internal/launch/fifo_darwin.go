package launch

import "golang.org/x/sys/unix"

// settleFifo makes the descriptor blocking: here the poller does not notice
// that the last writer of a named pipe has gone, while a plain read does.
func settleFifo(fd int) error { return unix.SetNonblock(fd, false) }
