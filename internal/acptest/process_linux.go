package acptest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process is one process of this machine; the start time tells it from a later
// one of the same number.
type process struct {
	pid     int
	started string
	command string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.command) }

// stat is what /proc/PID/stat says.
type stat struct {
	process
	parent int
	state  string
}

func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
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
	s := stat{parent: parent, state: fields[0]}
	s.process = process{pid: pid, started: fields[19], command: string(text[open : end+1])}
	return s, err == nil
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

// descendants are the processes that the agent has started and that still hang
// on it; the agent itself is not one.
func (a *Agent) descendants() []process {
	all := allProcesses()
	var list []process
	for pid, s := range all {
		for up, steps := s.parent, 0; up > 1 && steps < 100; up, steps = all[up].parent, steps+1 {
			if up == a.PID {
				list = append(list, all[pid].process)
				break
			}
		}
	}
	return list
}

// running returns those of the processes that still run, and all others that
// bear the mark of this run, such as daemons that have left the tree.
func (a *Agent) running(left []process) []process {
	known := map[int]process{}
	for _, p := range left {
		known[p.pid] = p
	}
	mark := []byte(envRun + "=" + a.run)
	var list []process
	for pid, s := range allProcesses() {
		if s.state == "Z" || s.state == "X" || pid == a.PID {
			continue // it has ended; that nobody has waited for it is not ours
		}
		if known[pid].started == s.started && s.started != "" {
			list = append(list, s.process)
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(env, mark) {
			list = append(list, s.process)
		}
	}
	return list
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

// Running lists the processes of the run besides the agent itself, as text.
func (a *Agent) Running() []string {
	var list []string
	for _, p := range a.running(a.descendants()) {
		list = append(list, p.String())
	}
	return list
}
