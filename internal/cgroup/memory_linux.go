package cgroup

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Total is the memory that this process and its children may use, in bytes: that
// of the machine, or the lowest limit of the cgroups that hold this process; 0
// when it is not known.
func (h Host) Total() uint64 {
	total := h.installed()
	own, mounts := h.own(), h.mounts()
	_, dir := unified(mounts, own[""])
	for _, limit := range []uint64{lowest(dir, "memory.max"), lowest(locate(mounts, memoryController, own[memoryController]), "memory.limit_in_bytes")} {
		if limit > 0 && (total == 0 || limit < total) {
			total = limit
		}
	}
	return total
}

// installed is the memory of the machine.
func (h Host) installed() uint64 {
	for line := range strings.Lines(read(filepath.Join(h.Proc, "meminfo"))) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseUint(fields[1], 10, 64) // what is not a number is unknown
			return kib << 10
		}
	}
	return 0
}

// lowest is the lowest limit in a directory and those above it that have one.
func lowest(dir, file string) (limit uint64) {
	for dir != "" && filepath.Dir(dir) != dir {
		value, err := strconv.ParseUint(strings.TrimSpace(read(filepath.Join(dir, file))), 10, 64)
		if err == nil && value > 0 && (limit == 0 || value < limit) {
			limit = value
		}
		dir = filepath.Dir(dir)
	}
	return limit
}
