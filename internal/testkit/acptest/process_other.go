//go:build !linux

package acptest

// Tree returns a process and all that descend from it.
func Tree(int) Processes { return nil }

// Alive returns those of the processes that still run.
func (p Processes) Alive() Processes { return nil }

func startTicks(int) uint64 { return 0 }

func (a *Agent) running() Processes { return nil }

func (a *Agent) abandoned() (marked, orphans Processes) { return nil, nil }

func (a *Agent) holders() (Processes, string) { return nil, "" }

// Peak is the most memory that the agent has had resident so far, in bytes; 0
// where the system does not tell.
func (a *Agent) Peak() int64 { return 0 }
