//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// rlimits maps the limits that are set to the kernel's numbers for them.
func (l Limits) rlimits() map[int]uint64 {
	m := make(map[int]uint64)
	for resource, value := range map[int]uint64{
		unix.RLIMIT_CPU:   l.CPU,
		unix.RLIMIT_AS:    l.Memory,
		unix.RLIMIT_FSIZE: l.FileSize,
		unix.RLIMIT_NPROC: l.Processes,
	} {
		if value != 0 {
			m[resource] = value
		}
	}
	return m
}
