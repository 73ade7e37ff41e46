package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Streams are the standard streams of a command that runs to its end.
type Streams struct {
	// Input is what the command reads; empty is an empty input.
	Input []byte
	// Output gets standard output; nil drops it. A slow writer slows the command
	// down; its error drops the rest of this stream and leaves the other, and the
	// command, as they are.
	Output io.Writer
	// Errors gets standard error. It is written from another goroutine than Output, in no
	// order with it, and its error drops the rest of standard error alone. nil puts both
	// into one stream, which keeps their order.
	Errors io.Writer
}

// StartStreams runs the command and returns when its shell or program runs. Each
// stream is written from a single goroutine. [Process.Wait] waits for all streams. A
// command that does not read its input to the end does not learn that.
//
// The context bounds the start alone; its end kills what has started, and its
// cause is returned. An error means that nothing runs (R55).
func (l *Launcher) StartStreams(ctx context.Context, spec Spec, s Streams) (*Process, error) {
	if s.Output == nil {
		s.Output = io.Discard
	}
	return l.start(ctx, spec, wiring{input: len(s.Input) > 0, errors: s.Errors != nil}, func(p *Process) {
		p.run(s.Output, s.Errors, s.Input)
	})
}

// Piped is a long-lived program that is spoken to, such as a server of some
// protocol over its standard streams.
type Piped struct {
	*Process
	// Stdin is the program's input. Close ends it; a program that is gone fails
	// the writes, waiting ones included.
	Stdin io.WriteCloser
	// Stdout is the program's output. It ends with the program; what a process
	// that cannot be killed still holds open is not waited for. The caller
	// closes it, after which a program that still writes fails.
	Stdout io.ReadCloser
}

// StartPiped starts a program and hands out the pipes of its input and output.
// errs gets standard error from a goroutine of the process; nil drops it. Everything else is
// as with [Launcher.StartStreams]: the context bounds the start alone, and the tree
// ends with [Process.Stop] or with the agent.
func (l *Launcher) StartPiped(ctx context.Context, spec Spec, errs io.Writer) (*Piped, error) {
	if errs == nil {
		errs = io.Discard
	}
	p, err := l.start(ctx, spec, wiring{input: true, errors: true}, func(p *Process) {
		p.piped = true
		p.run(nil, errs, nil)
	})
	if err != nil {
		return nil, err
	}
	return &Piped{Process: p, Stdin: p.link.input, Stdout: outlet{p, p.link.output}}, nil
}

// copy hands one stream of the command to a writer until its pipe ends.
func (p *Process) copy(from *os.File, to io.Writer) {
	defer from.Close()
	pipe := outlet{p, from}
	failed := false // this stream's writer; the other may go on
	buf := make([]byte, 32<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 && !failed && !p.dropped.Load() {
			_, werr := to.Write(buf[:n])
			failed = werr != nil // keep draining: a full pipe would hold the command
		}
		if err != nil {
			return
		}
	}
}

// feed writes the command's input. A command that has read enough, or is gone,
// ends it early.
func (p *Process) feed(input []byte) {
	_, _ = p.link.input.Write(input)
	_ = p.link.input.Close()
}

// outlet reads a pipe from the command. After the end of the tree it goes on as
// long as there is something to read.
type outlet struct {
	p    *Process
	pipe *os.File
}

// Read ends when the last process that held the pipe is gone, or the tree is
// and the pipe is silent.
func (o outlet) Read(b []byte) (int, error) {
	for {
		late := o.p.isGone()
		if late {
			// Not every file can carry a deadline; those end by themselves.
			_ = o.pipe.SetReadDeadline(time.Now().Add(drainIdle))
		}
		n, err := o.pipe.Read(b)
		switch {
		case n > 0, err == nil:
			return n, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case late:
			return 0, io.EOF
		}
	}
}

// Close closes the pipe.
func (o outlet) Close() error { return o.pipe.Close() }
