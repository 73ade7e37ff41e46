package rpc

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// crashOutput is where the trace of a crash goes: standard error, opened anew so that a
// full pipe does not keep the process from dying. The mode of the descriptor that we were
// given is shared with others and stays as it is. A file never blocks, and opened anew it
// would be written from its beginning. A socket cannot be opened anew.
func (s *Stderr) crashOutput() *os.File {
	info, err := s.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0 {
		return s.File
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return s.File
	}
	crash := s.File
	_ = raw.Control(func(fd uintptr) {
		path := fmt.Sprintf("/proc/self/fd/%d", fd)
		if file, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0); err == nil {
			crash = file
		}
	})
	return crash
}
