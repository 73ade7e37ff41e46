package launch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// cookieName is the variable that marks every process of a command. It finds
// them when the helper, which otherwise knows them by descent, was killed.
const cookieName = "ACP_AGENT_CALL"

// Launcher starts commands.
type Launcher struct {
	// Self is the absolute path of our own binary, whose main calls [Helper].
	Self string

	spares spares
}

// start starts the command in a helper, a waiting one where there is one; run starts the
// goroutines of the process.
func (l *Launcher) start(ctx context.Context, spec Spec, w wiring, run func(*Process)) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	argv := l.helperArgv(spec)
	if w == (wiring{}) {
		if s := l.spares.take(argv); s != nil {
			p, err := handOver(ctx, spec, s.cmd, s.link, channels{}, run)
			if !errors.Is(err, errIdle) {
				return p, err
			}
			// Something ended it while it waited.
		}
	}
	cmd := helperCmd(argv)
	lk, c, err := startHelper(cmd, w)
	if err != nil {
		return nil, fmt.Errorf("launch: start helper %q: %w", l.Self, err)
	}
	return handOver(ctx, spec, cmd, lk, c, run)
}

// helperCmd is a helper before its start.
func helperCmd(argv []string) *exec.Cmd {
	return &exec.Cmd{
		Path: argv[0],
		Args: argv,
		Env:  []string{}, // a command can read its helper's environment

		SysProcAttr: helperAttr(),
	}
}

// handOver sends a command to a helper that runs, and waits until the helper has started it.
// After an error nothing of either is left.
func handOver(ctx context.Context, spec Spec, cmd *exec.Cmd, lk *link, c channels, run func(*Process)) (*Process, error) {
	cookie := rand.Text()
	p := newProcess(cookie, cmd, lk)
	run(p)

	unbind := context.AfterFunc(ctx, p.abort)
	spec.openFiles = startedFiles()
	line, err := spec.encode(c, cookieName+"="+cookie, "PWD="+spec.Dir)
	if err == nil {
		// If the helper is gone, watch has the better reason.
		_, _ = lk.control.Write(line)
		err = <-p.ready
	} else {
		p.kill()
	}
	if cancelled := !unbind(); cancelled {
		err = context.Cause(ctx)
	}
	if err != nil {
		<-p.done
		<-p.drained
		lk.output.Close() // of a piped program no one else does
		return nil, err
	}
	return p, nil
}

// helperArgv starts the helper of a command, with further arguments.
func (l *Launcher) helperArgv(spec Spec, args ...string) []string {
	return slices.Concat(spec.Enter, []string{l.Self, HelperArg}, args)
}

// wiring says which pipes a command has besides that of its output.
type wiring struct{ input, errors bool }

// startHelper starts the helper with a pipe on each of its three descriptors,
// and hands it what the command has besides.
func startHelper(cmd *exec.Cmd, w wiring) (_ *link, c channels, err error) {
	var p plumbing
	defer func() { p.finish(err != nil) }()
	lk := &link{control: p.into(), output: p.from(), status: p.from()}
	if p.err != nil {
		return nil, c, p.err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	if w.input {
		lk.input = p.into()
		c.Stdin = p.hand(cmd)
	}
	if w.errors {
		lk.errors = p.from()
		c.Stderr = p.hand(cmd)
	}
	if p.err != nil {
		return nil, c, p.err
	}
	return lk, c, cmd.Start()
}

// plumbing makes pipes between us and a process. After its first error it makes no more.
type plumbing struct {
	ours, theirs []*os.File
	err          error
}

// into makes a pipe to the process and returns our end, which is written to.
func (p *plumbing) into() *os.File {
	r, w := p.pipe()
	p.ours, p.theirs = append(p.ours, w), append(p.theirs, r)
	return w
}

// from makes a pipe from the process and returns our end, which is read.
func (p *plumbing) from() *os.File {
	r, w := p.pipe()
	p.ours, p.theirs = append(p.ours, r), append(p.theirs, w)
	return r
}

func (p *plumbing) pipe() (r, w *os.File) {
	if p.err == nil {
		r, w, p.err = os.Pipe()
	}
	return r, w
}

// hand gives the process its end of the last pipe, in addition to its standard
// descriptors.
func (p *plumbing) hand(cmd *exec.Cmd) (fd uintptr) {
	if p.err == nil {
		fd, p.err = hand(cmd, p.theirs[len(p.theirs)-1])
	}
	return fd
}

// finish closes our copies of the process's ends, and our own ends when the start failed.
func (p *plumbing) finish(failed bool) {
	closing := p.theirs
	if failed {
		closing = append(closing, p.ours...)
	}
	for _, f := range closing {
		f.Close() // a pipe that could not be made is nil, which Close takes
	}
}
