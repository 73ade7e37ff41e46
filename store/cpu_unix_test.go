//go:build unix

package store_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of the processors, which other programs on the machine
// do not change.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
