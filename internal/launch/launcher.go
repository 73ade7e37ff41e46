package launch

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// cookieName is the variable that marks every process of a command. It finds
// them when the helper, which otherwise knows them by descent, was killed.
const cookieName = "ACP_AGENT_CALL"

// Launcher starts commands.
type Launcher struct {
	// Self is the absolute path of our own binary, whose main calls [Helper].
	Self string
}

// Start runs the command and returns when its shell runs. Its standard output
// and standard error share one pipe, which keeps their order; out gets the
// stream from a single goroutine, and a slow writer slows the command down. A
// writer's error drops the rest of the output and leaves the command running.
//
// The context bounds the start alone; its end kills what has begun, and its
// cause is returned. An error means that nothing runs (R55).
func (l *Launcher) Start(ctx context.Context, spec Spec, out io.Writer) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	cookie := rand.Text()
	line, err := spec.encode(nil, cookieName+"="+cookie, "PWD="+spec.Dir)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: l.Self,
		Args: []string{l.Self, HelperArg},
		Env:  []string{}, // a command can read its helper's environment

		SysProcAttr: helperAttr(),
	}
	lk, err := startHelper(cmd)
	if err != nil {
		return nil, fmt.Errorf("launch: start helper %q: %w", l.Self, err)
	}
	p := newProcess(cookie, cmd, lk, out)
	go p.copyOutput()
	go p.watch()

	unbind := context.AfterFunc(ctx, p.kill)
	// If the helper is gone, watch has the better reason.
	_, _ = lk.control.Write(line)
	err = <-p.ready
	if cancelled := !unbind(); cancelled {
		err = context.Cause(ctx)
	}
	if err != nil {
		<-p.done
		<-p.drained
		return nil, err
	}
	return p, nil
}

// startHelper starts the helper with a pipe on each of its three descriptors.
func startHelper(cmd *exec.Cmd) (*link, error) {
	var pipes [3]struct{ r, w *os.File }
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			for _, p := range pipes[:i] {
				p.r.Close()
				p.w.Close()
			}
			return nil, err
		}
		pipes[i].r, pipes[i].w = r, w
	}
	control, output, status := pipes[0], pipes[1], pipes[2]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = control.r, output.w, status.w
	err := cmd.Start()
	control.r.Close()
	output.w.Close()
	status.w.Close()
	if err != nil {
		control.w.Close()
		output.r.Close()
		status.r.Close()
		return nil, err
	}
	return &link{control: control.w, output: output.r, status: status.r}, nil
}
