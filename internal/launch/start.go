package launch

import (
	"os"
	"syscall"
)

// Start is what the helper is about to start, for a [Step] to change.
type Start struct {
	// Spec is what was asked for. It is not to be changed.
	Spec Spec
	// Argv is the program, by its absolute path, and its arguments. A step may
	// put a program before it that builds a sandbox and then runs the rest.
	Argv []string
	// Sandbox says that the first program of Argv builds a sandbox: it ends by itself
	// when the command has ended, ends everything inside when it is killed, and is not
	// asked to end before the command (X3).
	Sandbox bool

	// Fork, unless nil, starts the program in the place of the system's fork, and returns the process
	// that a Sandbox is. ready bounds it, and has to be called before it starts any other. It is called again, without a
	// cgroup, after a [NotForked], and after no other error.
	Fork func(argv []string, attr *syscall.ProcAttr, ready func(pid int) error) (pid int, err error)

	files []*os.File
}

// NotForked is the error of a [Start.Fork] for which the system made no process, so that nothing was done yet.
type NotForked struct{ Err error }

func (n NotForked) Error() string { return n.Err.Error() }

// Unwrap returns the system's error.
func (n NotForked) Unwrap() error { return n.Err }

// Hand gives the program a file of its own, which Start takes over, and returns
// the descriptor that it will have.
func (s *Start) Hand(f *os.File) int {
	const first = 3 // after the standard ones
	s.files = append(s.files, f)
	return first + len(s.files) - 1
}

// close closes the helper's copies of the files.
func (s *Start) close() {
	for _, f := range s.files {
		f.Close()
	}
}

func (s *Spec) start() *Start { return &Start{Spec: *s, Argv: s.argv()} }
