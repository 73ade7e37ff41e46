package run

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/tools"
)

// Program is a running program that is spoken to over its standard streams, such
// as a language server. Read reads its output, Write writes its input; both end
// with the program. Its methods may be called from any goroutine.
type Program struct {
	piped *launch.Piped
	grace time.Duration
	// ended is closed when what was made for the program is taken away again.
	ended chan struct{}
}

var _ io.ReadWriteCloser = (*Program)(nil)

// StartProgram starts a long-lived program under the confinement and environment of a call's
// programs. p's input is ignored. stderr receives its errors on another goroutine; nil drops them.
// ctx bounds only the start: the whole process tree ends with Close, the session or the agent
// (R149, X4). g is its sandbox grant; nothing is compared afterwards. It takes no slot and has no
// resource limits; the caller bounds the number. Without p.Dir it starts at the file system root,
// outside all projects.
func (r *Runner) StartProgram(ctx context.Context, p tools.Program, g Grant, stderr io.Writer) (*Program, error) {
	spec, err := r.programSpec(p)
	if err != nil {
		return nil, err
	}
	if p.Dir == "" {
		spec.Dir = filepath.VolumeName(spec.Dir) + string(filepath.Separator)
	}
	g.ReadsOnly, g.Arguments, g.Caches = true, true, p.Caches
	cmd, err := r.confine(ctx, spec, g)
	if err != nil {
		return nil, err
	}
	piped, err := r.o.Launcher.StartPiped(ctx, cmd.Spec, stderr)
	if err != nil {
		cmd.release()
		return nil, commandError(ctx, err)
	}
	program := &Program{piped: piped, grace: launch.ShutdownGrace, ended: make(chan struct{})}
	go func() { // ends with the program, which Close waits for
		defer close(program.ended)
		<-piped.Done()
		cmd.end()
	}()
	r.group.Add(piped.Process)
	return program, nil
}

// Read reads the program's output. Its end is io.EOF.
func (p *Program) Read(b []byte) (int, error) { return p.piped.Stdout.Read(b) }

// Write writes the program's input. It waits for the program to read, and fails
// when the program is gone.
func (p *Program) Write(b []byte) (int, error) { return p.piped.Stdin.Write(b) }

// Wait returns how the program ended, once nothing of it is left. The end of
// ctx does not stop the program.
func (p *Program) Wait(ctx context.Context) (tools.Exit, error) {
	status, err := p.piped.Wait(ctx)
	if err != nil {
		return tools.Exit{}, commandError(ctx, err)
	}
	return exitOf(status), nil
}

// Close ends the program, if it has not ended: its tree gets TERM, and KILL half
// a second later. It returns when nothing is left of it, or when what is left
// cannot be killed. A second Close has nothing to do.
func (p *Program) Close() error {
	// A write that waits for a program that does not read ends here. That the pipe
	// is closed already is not a failure.
	_ = p.piped.Stdin.Close()
	p.piped.Stop(p.grace)
	ctx, cancel := context.WithTimeout(context.Background(), p.grace+closeWait)
	defer cancel()
	_, err := p.piped.Wait(ctx)
	_ = p.piped.Stdout.Close()
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return tools.Errorf(tools.Backend, "the program could not be stopped")
	}
	return nil // how the program ended is Wait's to say
}
