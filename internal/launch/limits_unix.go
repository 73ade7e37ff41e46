//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// rlimits maps the limits of a single process to the kernel's numbers for them.
func (l Limits) rlimits() map[int]uint64 {
	if l == (Limits{}) {
		return nil
	}
	m := map[int]uint64{unix.RLIMIT_CORE: 0}
	for resource, value := range map[int]uint64{
		unix.RLIMIT_CPU:    l.CPU,
		unix.RLIMIT_FSIZE:  l.FileSize,
		unix.RLIMIT_NOFILE: l.Files,
		// The kernel ignores it; sort and others size their buffers by it.
		unix.RLIMIT_RSS: l.Memory / 2,
	} {
		if value != 0 {
			m[resource] = value
		}
	}
	return m
}

// exceeded names the limit of a single process that ended the command: a shell
// hands on the signal of its last command as an exit code.
func (l Limits) exceeded(s Status) string {
	switch s.ExitCode - 128 {
	case int(unix.SIGXFSZ):
		if l.FileSize > 0 {
			return ExceededFileSize
		}
	case int(unix.SIGXCPU):
		if l.CPU > 0 {
			return ExceededCPU
		}
	}
	return ""
}
