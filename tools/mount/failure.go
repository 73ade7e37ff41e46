package mount

import "fmt"

// Failure is a module that was not mounted.
type Failure struct {
	Module string
	// Script says that it is a script of a toolbox, or a whole one, and Module its path.
	Script bool
	// At is the place in the plan's file; may be empty.
	At  string
	Err error

	order int
}

// Error implements error.
func (f Failure) Error() string {
	switch {
	case f.Script:
		return fmt.Sprintf("toolbox %s: %v", f.Module, f.Err)
	case f.At == "":
		return fmt.Sprintf("module %q: %v", f.Module, f.Err)
	}
	return fmt.Sprintf("%s: module %q: %v", f.At, f.Module, f.Err)
}

// Unwrap returns the cause.
func (f Failure) Unwrap() error { return f.Err }
