package acptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stat is what /proc/PID/stat says.
type stat struct {
	process
	parent int
	state  string
	ticks  uint64 // when it started, since the boot
}

// readStat makes three system calls, where os.ReadFile makes nine: each test reads the lines of all
// processes of the machine, several times.
func readStat(pid int) (stat, bool) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, false
	}
	defer syscall.Close(fd)
	var line [1024]byte // 52 fields of at most 20 digits, and a name of 15 bytes
	n, err := syscall.Read(fd, line[:])
	if err != nil {
		return stat{}, false
	}
	text := line[:n]
	// The name stands in parentheses and may hold anything.
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	ticks, startErr := strconv.ParseUint(fields[19], 10, 64)
	s := stat{parent: parent, state: fields[0], ticks: ticks}
	s.process = process{pid: pid, started: fields[19], command: string(text[open : end+1])}
	return s, err == nil && startErr == nil
}

func allProcesses() map[int]stat {
	all := map[int]stat{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return all
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if s, ok := readStat(pid); ok {
				all[pid] = s
			}
		}
	}
	return all
}

// Tree returns a process and all that descend from it, as far as they hang
// together.
func Tree(root int) Processes { return below(root, allProcesses()) }

func below(root int, all map[int]stat) Processes {
	var list Processes
	for pid, s := range all {
		for up, steps := pid, 0; up > 1 && steps < 100; up, steps = all[up].parent, steps+1 {
			if up == root {
				list = append(list, s.process)
				break
			}
		}
	}
	return list
}

// Alive returns those of the processes that still run.
func (p Processes) Alive() Processes {
	var list Processes
	for _, one := range p {
		if s, ok := readStat(one.pid); ok && s.started == one.started && !s.ended() {
			list = append(list, one)
		}
	}
	return list
}

// ended reports whether nothing is left of the process but its entry; that
// no one has waited for it yet is no matter of ours.
func (s stat) ended() bool { return s.state == "Z" || s.state == "X" }

// startTicks is when a process started; 0 when it has ended.
func startTicks(pid int) uint64 {
	s, _ := readStat(pid)
	return s.ticks
}

// running returns what descends from the agent or bears its mark. It looks at all processes once.
func (a *Agent) running() Processes {
	all := allProcesses()
	return append(below(a.PID, all), a.marked(all)...)
}

// abandoned returns the processes that bear the mark of the run, such as daemons that have left
// the tree, and orphans: helpers of commands whose agent is gone, and which notice that next. It
// looks at all processes once, and for orphans first, as one of them may become the command, which
// bears the mark.
func (a *Agent) abandoned() (marked, orphans Processes) {
	all := allProcesses()
	orphans = a.orphans(all)
	return a.marked(all), orphans
}

// marked returns those of the processes that bear the mark of the run. Older ones than the agent
// cannot.
func (a *Agent) marked(all map[int]stat) Processes {
	mark := []byte(envRun + "=" + a.run)
	var list Processes
	for pid, s := range all {
		if s.ticks < a.startTicks {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && !s.ended() && bytes.Contains(env, mark) {
			list = append(list, s.process)
		}
	}
	return list
}

// helperArg starts the helper of a command, see internal/launch.
const helperArg = "__exec"

// orphans returns those of the processes that are helpers of an agent that is gone. They have
// no environment that could bear a mark, so those of other agents are among them.
func (a *Agent) orphans(all map[int]stat) Processes {
	heirs := map[int]bool{} // one of them gets what loses its parent
	for pid := all[os.Getpid()].parent; pid > 0; pid = all[pid].parent {
		heirs[pid] = true
	}
	var list Processes
	for pid, s := range all {
		if s.ticks < a.startTicks || s.ended() || !heirs[s.parent] {
			continue
		}
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(args, []byte("\x00"+helperArg+"\x00")) {
			list = append(list, s.process)
		}
	}
	return list
}

// holders returns the processes that have the agent's output open, and the state of the agent.
func (a *Agent) holders() (list Processes, state string) {
	s, _ := readStat(a.PID)
	out, ok := a.stdout.(*os.File)
	if !ok {
		return nil, s.state
	}
	pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", out.Fd()))
	if err != nil {
		return nil, s.state
	}
	for pid, s := range allProcesses() {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && to == pipe && pid != os.Getpid() {
				list = append(list, s.process)
				break
			}
		}
	}
	return list, s.state
}

// Peak is the most memory that the agent has had resident so far, in bytes; 0
// where the system does not tell.
func (a *Agent) Peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.PID))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}
