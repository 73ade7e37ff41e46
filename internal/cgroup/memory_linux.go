package cgroup

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
)

// Total is the memory that this process and its children may use, in bytes: that
// of the machine, or the limit of the cgroups; 0 when it is not known.
func (h Host) Total() uint64 { return cmp.Or(h.Limit(), h.installed()) }

// Limit is the lowest memory limit, in bytes, of the cgroups that hold this process; 0
// when none is below the memory of the machine. In a container the path of the own
// cgroup may be one of the machine that does not exist: then the limits of its parents
// count.
func (h Host) Limit() uint64 {
	own, mounts := h.own(), h.mounts()
	_, dir := unified(mounts, own[""])
	limit := lowest(dir, "memory.max")
	if v1 := lowest(locate(mounts, memoryController, own[memoryController]), "memory.limit_in_bytes"); limit == 0 || v1 > 0 && v1 < limit {
		limit = v1
	}
	if total := h.installed(); total > 0 && limit >= total {
		return 0 // also what version 1 writes for no limit
	}
	return limit
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
