//go:build !linux

package acptest

// process is one process of this machine. Only on Linux are they looked at.
type process struct{}

func (process) String() string { return "" }

func (a *Agent) descendants() []process      { return nil }
func (a *Agent) running([]process) []process { return nil }

// Peak is the most memory that the agent has had resident so far, in bytes; 0
// where the system does not tell.
func (a *Agent) Peak() int64 { return 0 }

// Running lists the processes of the run besides the agent itself, as text;
// empty where they cannot be seen.
func (a *Agent) Running() []string { return nil }
