package acptest

import (
	"fmt"
	"slices"
)

// Processes are processes of this machine. Only on Linux are there ever any.
type Processes []process

// process is one of them; the start time tells it from a later one with the
// same number.
type process struct {
	pid     int
	started string
	command string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.command) }

// Running returns the processes of the run besides the agent itself: its
// descendants, and processes that have left its tree.
func (a *Agent) Running() Processes {
	all := a.running()
	slices.SortFunc(all, func(p, q process) int { return p.pid - q.pid })
	all = slices.CompactFunc(all, func(p, q process) bool { return p.pid == q.pid })
	return slices.DeleteFunc(all, func(p process) bool { return p.pid == a.PID })
}
