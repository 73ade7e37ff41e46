package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf is the CPU time of a running process, all its threads, to the nanosecond.
func cpuOf(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel's clock ids
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("cpu clock of %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// memoryOf is the proportional set size and the highest resident size so far, in MB.
func memoryOf(pid int) (pss, peak float64, err error) {
	if pss, err = procField(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:"); err != nil {
		return 0, 0, err
	}
	peak, err = procField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:")
	return pss, peak, err
}

func procField(file, name string) (megabytes float64, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("%s: no %s", file, name)
}
