package tools

import (
	"context"
	"errors"
	"io"
	"time"
)

// Processes runs commands.
type Processes interface {
	// Run runs one command and returns when it has exited and its output is
	// drained, or at once when ctx ends: the process tree is then killed
	// after the answer, and its further output dropped (R58). A command that
	// cannot be started is an error; a non-zero exit is not (R55).
	Run(ctx context.Context, cmd ShellCommand, output io.Writer) (Exit, error)
	// Exec runs one program by its arguments, with no shell between (C10), under
	// the same rules as Run. A program that is not found is an *Error of kind
	// Unavailable that names it.
	Exec(ctx context.Context, p Program, output io.Writer) (Exit, error)
}

// Program is a program and its arguments.
type Program struct {
	// Args begin with the program: a name to be found on the PATH of the
	// session's commands, or an absolute path.
	Args []string
	// Dir is absolute.
	Dir string
	// Env are variables, as NAME=value, beside the session's own.
	Env []string
	// Stdin is what the program reads.
	Stdin []byte
	// Caches says whose caches of packages and builds the program has, of those in the
	// project; "" means those of its commands.
	Caches string
	// Stderr gets the program's errors; nil means that they go where its output
	// goes.
	Stderr io.Writer
}

// ShellCommand is a command line for the session's shell.
type ShellCommand struct {
	Text string
	// Dir is absolute.
	Dir string
	// Limit is how long it may run; 0 is without end. While the user is asked about
	// something that the command waits for, its time stands still. A command that is ended
	// by it has ErrCommandTime as its error.
	Limit time.Duration
}

// ErrCommandTime is the error of a command whose time was over.
var ErrCommandTime = errors.New("command time limit reached")

// Exit says how a command ended.
type Exit struct {
	Code int
	// Signal is the name of the signal that ended it, or "".
	Signal string
	// Notes say in one line each what was done about the command besides running it,
	// such as a file that was put back.
	Notes []string
}
