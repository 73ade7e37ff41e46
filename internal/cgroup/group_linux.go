package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Group is the cgroup of one command: a directory for each hierarchy. It is used
// by one goroutine at a time. The zero value bounds nothing.
type Group struct {
	members []member
}

// member is the directory of a Group in one hierarchy.
type member struct {
	parent
	procs *os.File // open before a sandbox could forbid it
}

// Create makes a cgroup with those limits. What cannot be bounded is left out;
// see [Group.Bounds].
func (h Host) Create(l Limits) *Group {
	g := &Group{}
	if l == (Limits{}) {
		return g
	}
	name := h.self().name()
	for _, p := range h.parents() {
		p.dir = filepath.Join(p.dir, name)
		if os.Mkdir(p.dir, 0o755) != nil {
			continue
		}
		p.resources = slices.DeleteFunc(p.resources, func(r Resource) bool { return !p.limit(r, l) })
		procs, err := os.OpenFile(filepath.Join(p.dir, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil || len(p.resources) == 0 {
			procs.Close() // nil when it could not be opened, which Close takes
			_ = os.Remove(p.dir)
			continue
		}
		g.members = append(g.members, member{p, procs})
	}
	return g
}

// limit writes one limit and reports whether it is in force.
func (p parent) limit(r Resource, l Limits) bool {
	switch {
	case r == Processes:
		return l.Processes > 0 && p.write("pids.max", l.Processes)
	case l.Memory == 0:
		return false
	case !p.unified:
		// Where swap is not counted, the file is missing and memory alone is bounded.
		ok := p.write("memory.limit_in_bytes", l.Memory)
		p.write("memory.memsw.limit_in_bytes", l.Memory)
		return ok
	}
	p.write("memory.swap.max", 0)
	p.write("memory.oom.group", 1)
	return p.write("memory.max", l.Memory)
}

func (p parent) write(file string, value uint64) bool {
	f, err := os.OpenFile(filepath.Join(p.dir, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return false
	}
	_, err = f.WriteString(strconv.FormatUint(value, 10))
	return errors.Join(err, f.Close()) == nil
}

// Bounds reports whether the group bounds a resource.
func (g *Group) Bounds(r Resource) bool {
	return slices.ContainsFunc(g.members, func(m member) bool { return slices.Contains(m.resources, r) })
}

// Add moves a process into the group. Its children are born there. After an
// error the hierarchy that refused bounds nothing.
func (g *Group) Add(pid int) {
	g.members = slices.DeleteFunc(g.members, func(m member) bool {
		if _, err := m.procs.WriteString(strconv.Itoa(pid)); err == nil {
			return false
		}
		m.procs.Close()
		_ = os.Remove(m.dir)
		return true
	})
}

// Exceeded is the resource of which the processes wanted more than they may
// have; empty when there is none. The kernel has ended some of them, or refused
// to start one.
func (g *Group) Exceeded() Resource {
	for _, m := range g.members {
		switch {
		case slices.Contains(m.resources, Memory) && (m.count("memory.events", "oom_kill") > 0 || m.count("memory.oom_control", "oom_kill") > 0):
			return Memory
		case slices.Contains(m.resources, Processes) && m.count("pids.events", "max") > 0:
			return Processes
		}
	}
	return ""
}

// count reads one number of a file of lines `name number`.
func (m member) count(file, name string) int {
	for line := range strings.Lines(read(filepath.Join(m.dir, file))) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			n, _ := strconv.Atoi(fields[1]) // what is not a number counts as none
			return n
		}
	}
	return 0
}

// Seal keeps the processes of the group from starting others, so that all of
// them can be killed.
func (g *Group) Seal() {
	for _, m := range g.members {
		if slices.Contains(m.resources, Processes) {
			m.write("pids.max", 0)
		}
	}
}

const (
	// removeRounds times removePause is how long the kernel may take to let go of
	// processes that have ended.
	removeRounds = 100
	removePause  = 2 * time.Millisecond
)

// Remove removes the group, whose processes have ended.
func (g *Group) Remove() {
	for _, m := range g.members {
		m.procs.Close()
		remove(m.dir)
	}
	g.members = nil
}

func remove(dir string) {
	for range removeRounds {
		if err := syscall.Rmdir(dir); err != syscall.EBUSY {
			return
		}
		time.Sleep(removePause)
	}
}
