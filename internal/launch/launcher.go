package launch

import (
	"cmp"
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
	if servesOn || w == (wiring{}) {
		for h := l.spares.take(argv); h != nil; h = l.spares.take(argv) {
			p, err := l.handOver(ctx, spec, h, w, run)
			if !errors.Is(err, errIdle) {
				return p, err
			}
			// Something ended it while it waited.
		}
	}
	h, err := startHelper(argv, w)
	if err != nil {
		return nil, fmt.Errorf("launch: start helper %q: %w", l.Self, err)
	}
	return l.handOver(ctx, spec, h, w, run)
}

// handOver sends a command to a helper that runs, and waits until the helper has started it.
// After an error nothing of either is left.
func (l *Launcher) handOver(ctx context.Context, spec Spec, h *helperProcess, w wiring, run func(*Process)) (*Process, error) {
	var p plumbing
	if servesOn {
		h.streams, h.channels = p.streams(w)
	}
	defer func() { p.finish(false) }()
	cookie := rand.Text()
	spec.openFiles = startedFiles()
	line, err := spec.encode(h.channels, cookieName+"="+cookie, "PWD="+spec.Dir)
	if err = cmp.Or(p.err, err); err != nil {
		h.end()
		return nil, err
	}
	process := newProcess(cookie, h.cmd, &link{control: h.control, status: h.status, streams: h.streams})
	if servesOn && !spec.Alone {
		process.giveBack = func() { l.spares.put(h) }
	}
	run(process)

	unbind := context.AfterFunc(ctx, process.abort)
	sendErr := h.send(line, p.theirs)
	if sendErr != nil {
		process.kill() // else it waits for what does not come
	}
	p.finish(false) // while we have the streams as well, no reader sees an end
	err = <-process.ready
	if sendErr != nil && errors.Is(err, errIdle) { // else watch has the better reason
		err = fmt.Errorf("%w: %w", err, sendErr)
	}
	if cancelled := !unbind(); cancelled {
		err = context.Cause(ctx)
	}
	if err != nil {
		<-process.done
		<-process.drained
		process.link.output.Close() // of a piped program no one else does; h may have its next command
		return nil, err
	}
	return process, nil
}

// helperArgv starts the helper of a command, with further arguments.
func (l *Launcher) helperArgv(spec Spec, args ...string) []string {
	return slices.Concat(spec.Enter, []string{l.Self, HelperArg}, args)
}

// wiring says which streams a command has besides its output.
type wiring struct{ input, errors bool }

// helperProcess is a helper that runs, without a command.
type helperProcess struct {
	argv            []string
	cmd             *exec.Cmd
	control, status *os.File

	// streams and channels are those of its next command. A helper that serves on gets them with the command,
	// another one has them from its start.
	streams  streams
	channels channels
}

// startHelper starts a helper.
func startHelper(argv []string, w wiring) (_ *helperProcess, err error) {
	h := &helperProcess{argv: argv, cmd: &exec.Cmd{
		Path: argv[0],
		Args: argv,
		Env:  []string{}, // a command can read its helper's environment

		SysProcAttr: helperAttr(),
	}}
	var p plumbing
	defer func() { p.finish(err != nil) }()
	h.control, h.status = p.control(), p.from()
	if p.err != nil {
		return nil, p.err
	}
	h.cmd.Stdin, h.cmd.Stderr = p.theirs[0], p.theirs[1]
	if p.inherit(h, w); p.err != nil {
		return nil, p.err
	}
	return h, h.cmd.Start()
}

// end ends a helper that has started nothing, and returns when it is gone.
func (h *helperProcess) end() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
	h.control.Close()
	h.status.Close()
	h.streams.close()
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

// streams makes the pipes of a command's streams. The channels are the places of the process's ends, behind that
// of its output.
func (p *plumbing) streams(w wiring) (s streams, c channels) {
	first := len(p.theirs)
	s.output = p.from()
	if w.input {
		c.Stdin = uintptr(len(p.theirs) - first)
		s.input = p.into()
	}
	if w.errors {
		c.Stderr = uintptr(len(p.theirs) - first)
		s.errors = p.from()
	}
	return s, c
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
	p.ours, p.theirs = nil, nil
}
