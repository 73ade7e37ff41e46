package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// heedPercent is the part of a container's memory that the agent's heap may take before
// the collector works harder; the rest is for the programs that it starts, and for what
// the collector does not count.
const heedPercent = 90

// heedMemoryLimit has the garbage collector heed the memory limit of the control group
// that the process runs in, unless GOMEMLIMIT says otherwise. root is the file system.
func heedMemoryLimit(root fs.FS) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := memoryLimit(root); limit > 0 {
		debug.SetMemoryLimit(limit / 100 * heedPercent)
	}
}

// machine is the file system of this machine.
func machine() fs.FS { return os.DirFS("/") }

// memoryLimit is the lowest memory limit, in bytes, of the control group of the process and
// those above it; 0 means that there is none. In a container the group's path may be one
// of the host that is not there: then the parents that are there count, in the end the
// root of what is mounted.
func memoryLimit(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	lowest := int64(math.MaxInt64)
	for line := range strings.Lines(string(groups)) {
		// The lines are hierarchy:controllers:path; version 2 has no controllers.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		switch {
		case fields[1] == "":
		case strings.Contains(","+fields[1]+",", ",memory,"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			if limit := readLimit(root, path.Join(mount, group, file)); limit > 0 {
				lowest = min(lowest, limit)
			}
			if group == "/" {
				break
			}
		}
	}
	if lowest >= unlimited {
		return 0
	}
	return lowest
}

// unlimited is less than what version 1 writes for no limit, and more than any machine has.
const unlimited = 1 << 60

// readLimit reads one limit; what is none, such as "max", is 0.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	limit, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return limit
}
