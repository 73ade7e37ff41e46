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
	// entry and exit take the calling thread into the directory and out of it, in
	// version 1.
	entry, exit *os.File
	// dirFile is the directory itself, into which the kernel can start a process, in
	// version 2.
	dirFile *os.File
}

// open opens the files through which processes enter the directory, so that a sandbox that
// forbids it later is no obstacle.
func (m *member) open() error {
	above := filepath.Dir(m.dir)
	var err error
	if m.procs, err = os.OpenFile(filepath.Join(m.dir, "cgroup.procs"), os.O_WRONLY, 0); err != nil {
		return err
	}
	if m.unified {
		m.dirFile, _ = os.OpenFile(m.dir, os.O_RDONLY, 0) // without it, Add moves the process
		return nil
	}
	m.entry, _ = os.OpenFile(filepath.Join(m.dir, "tasks"), os.O_WRONLY, 0) // without it, Add moves the process
	m.exit, _ = os.OpenFile(filepath.Join(above, "tasks"), os.O_WRONLY, 0)
	return nil
}

// close closes the files that open could open.
func (m *member) close() {
	for _, f := range []*os.File{m.procs, m.entry, m.exit, m.dirFile} {
		f.Close() // of a nil file, it does nothing
	}
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
		p.resources = slices.DeleteFunc(p.resources, func(r Resource) bool { return !p.setLimit(r, l) })
		m := member{parent: p}
		if m.open() != nil || len(p.resources) == 0 {
			m.close()
			_ = os.Remove(p.dir)
			continue
		}
		g.members = append(g.members, m)
	}
	return g
}

// setLimit writes one limit and reports whether it is in force.
func (p parent) setLimit(r Resource, l Limits) bool {
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

// Enter moves the calling thread into the group, in version 1, so that what it starts
// is born there; leave moves it out again. The rest of the process stays outside, and
// what it holds is not counted. The caller keeps the thread to itself until leave.
//
// To move a process, the kernel waits until no processor starts or ends one, which
// takes it several milliseconds. A thread moves itself at once.
func (g *Group) Enter() (leave func()) {
	const itself = "0"
	var entered []member
	for _, m := range g.members {
		if m.entry == nil || m.exit == nil {
			continue
		}
		if _, err := m.entry.WriteString(itself); err == nil {
			entered = append(entered, m)
		}
	}
	return func() {
		for _, m := range entered {
			_, _ = m.exit.WriteString(itself) // else it leaves with its end
		}
	}
}

// StartIn is the descriptor of a directory of version 2 into which the kernel can
// start a process; ok is false where there is none.
func (g *Group) StartIn() (fd int, ok bool) {
	for _, m := range g.members {
		if m.dirFile != nil {
			return int(m.dirFile.Fd()), true
		}
	}
	return 0, false
}

// Add moves a process into the group, unless it was born there. Its children are born
// there. After an error the hierarchy that refused bounds nothing.
func (g *Group) Add(pid int) {
	if len(g.members) == 0 {
		return
	}
	in := read("/proc/" + strconv.Itoa(pid) + "/cgroup")
	g.members = slices.DeleteFunc(g.members, func(m member) bool {
		if m.holds(in) {
			return false
		}
		if _, err := m.procs.WriteString(strconv.Itoa(pid)); err == nil {
			return false
		}
		m.close()
		_ = os.Remove(m.dir)
		return true
	})
}

// holds reports whether a process is in the directory, by the text of its /proc/PID/cgroup. The
// name of the directory is enough, because it is unique.
func (m member) holds(cgroups string) bool {
	for line := range strings.Lines(cgroups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 || filepath.Base(fields[2]) != filepath.Base(m.dir) {
			continue
		}
		controllers := strings.Split(fields[1], ",")
		if m.unified && fields[1] == "" || slices.Contains(controllers, m.controller) {
			return true
		}
	}
	return false
}

// Exceeded is the resource whose limit the processes have reached; empty when there is
// none. The kernel has then ended some of them, or refused to start one.
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
		m.close()
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
