package launch

import "os"

// stdio are the standard descriptors of a command, as its helper holds them.
type stdio struct {
	in  *os.File // nil: empty
	out *os.File
	err *os.File // nil: out
}

// errors is where standard error goes.
func (s stdio) errors() *os.File {
	if s.err == nil {
		return s.out
	}
	return s.err
}

// close closes the helper's own copies once the command has them: as long
// as they are open, no reader sees an end.
func (s stdio) close() {
	s.in.Close() // what is nil is not closed
	s.out.Close()
	s.err.Close()
}
