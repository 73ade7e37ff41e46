package launch

import "os"

// Start is what the helper is about to start, for a [Step] to change.
type Start struct {
	// Spec is what was asked for. It is not to be changed.
	Spec Spec
	// Argv is the program, by its absolute path, and its arguments. A step may
	// put a program before it that builds a sandbox and then runs the rest.
	Argv []string
	// Sandbox says that the first program of Argv is such a one: it ends by itself
	// when the command has ended, takes everything inside with it when it is
	// killed, and is not asked to end before the command (X3).
	Sandbox bool

	files []*os.File
}

// Hand gives the program a file of its own, which Start takes over, and returns
// the descriptor that it will have.
func (s *Start) Hand(f *os.File) int {
	const first = 3 // after the standard ones
	s.files = append(s.files, f)
	return first + len(s.files) - 1
}

// close lets go of the helper's copies of the files.
func (s *Start) close() {
	for _, f := range s.files {
		f.Close()
	}
}

func (s *Spec) start() *Start { return &Start{Spec: *s, Argv: s.argv()} }
