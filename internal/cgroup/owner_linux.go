package cgroup

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// prefix starts the name of each cgroup that this package makes.
const prefix = "acp-agent."

// owner is the process that made a cgroup and removes it. The kernel uses a process number
// again, but not together with the same start time.
type owner struct {
	namespace uint64 // of process numbers
	pid       int
	started   uint64 // in clock ticks since the start of the machine
}

// self is this process as an owner.
func (h Host) self() owner {
	pid := os.Getpid()
	return owner{h.namespace(), pid, h.started(pid)}
}

// name is that of a new cgroup of the owner.
func (o owner) name() string {
	return fmt.Sprintf("%s%d.%d.%d.%s", prefix, o.namespace, o.pid, o.started, rand.Text())
}

// ownerOf is the reverse of name.
func ownerOf(name string) (o owner, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return owner{}, false
	}
	namespace, err1 := strconv.ParseUint(fields[0], 10, 64)
	pid, err2 := strconv.Atoi(fields[1])
	started, err3 := strconv.ParseUint(fields[2], 10, 64)
	return owner{namespace, pid, started}, err1 == nil && err2 == nil && err3 == nil && namespace != 0 && started != 0
}

// namespace identifies the PID namespace of this process; 0 when it is not known.
func (h Host) namespace() uint64 {
	info, err := os.Stat(filepath.Join(h.Proc, "self/ns/pid"))
	if err != nil {
		return 0
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// started is when a running process started; 0 when there is none of that number.
func (h Host) started(pid int) uint64 {
	const field = 22 - 3 // the third field is the first after the name
	stat := read(filepath.Join(h.Proc, strconv.Itoa(pid), "stat"))
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return 0
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) <= field || fields[0] == "Z" || fields[0] == "X" {
		return 0 // a process that nothing has waited for yet has ended all the same
	}
	started, _ := strconv.ParseUint(fields[field], 10, 64) // what is not a number is unknown
	return started
}

// gone reports whether the owner is known to have ended.
func (h Host) gone(o owner) bool {
	return o.namespace == h.namespace() && h.started(o.pid) != o.started
}

func ownedBy(path string, uid int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
}
