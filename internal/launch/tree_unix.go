//go:build linux || darwin

package launch

import (
	"cmp"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// leftoverGrace is the time between TERM and KILL for what a command
	// leaves behind when its shell exits: time to remove a lock file, no more,
	// because the answer waits for it.
	leftoverGrace = 200 * time.Millisecond
	// sandboxPause is how long the first process of a namespace has to end by itself, which
	// takes the kernel a while on a busy machine.
	sandboxPause = 20 * time.Millisecond
	// killPause separates two rounds of KILL over a tree that still forks.
	killPause = 2 * time.Millisecond
	// killPatience is how long KILL is repeated before what is left counts as
	// a survivor.
	killPatience = 3 * time.Second
)

// tree is a shell and everything that came of it, seen from the helper.
type tree struct {
	shell   int
	sandbox bool          // shell is the program that builds the sandbox, see Start
	exited  chan exit     // the shell's end, one value
	empty   chan struct{} // closed when the helper has no child left
	bound   *bound        // what all of it may use together
	release func()        // ends the thread that started the shell
}

// exit is the end of the shell.
type exit struct {
	status syscall.WaitStatus
	last   bool // nothing else was left
}

// startTree starts the shell in a session of its own, without a terminal, and
// starts to reap.
func startTree(spec Spec, files stdio, steps []Step) (*tree, error) {
	in := files.in
	if in == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		defer null.Close()
		in = null
	}
	attr := &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   spec.Env,
		Files: []uintptr{in.Fd(), files.out.Fd(), files.errors().Fd()},
		Sys:   shellAttr(),
	}
	// The bound is made while the steps work, on another thread than they restrict.
	made := make(chan *bound, 1)
	go func() { made <- newBound(spec.Limits) }()
	var (
		b        *bound
		wg       sync.WaitGroup
		pid      int
		sandbox  bool
		err      error
		started  = make(chan struct{})
		finished = make(chan struct{})
	)
	wg.Go(func() {
		// A thread of its own, to the end. It carries the restrictions of the
		// steps, so no other goroutine may get it; and the kernel kills the
		// shell when the thread that started it ends.
		onOwnThread(func() {
			pid, sandbox, b, err = startShell(spec, attr, steps, made)
			close(started)
			<-finished
		})
	})
	<-started
	t := &tree{
		shell:   pid,
		sandbox: sandbox,
		bound:   b,
		exited:  make(chan exit, 1),
		empty:   make(chan struct{}),
		release: func() {
			close(finished)
			wg.Wait()
		},
	}
	if err != nil {
		t.release()
		b.end()
		return nil, err
	}
	go t.reap() // ends with the last child, or with the process
	return t, nil
}

// startShell runs the steps and starts the shell. It returns the bound that made delivers in
// any case, so that the caller can remove it after an error.
func startShell(spec Spec, attr *syscall.ProcAttr, steps []Step, made <-chan *bound) (pid int, sandbox bool, b *bound, err error) {
	start := spec.start()
	defer start.close()
	for _, step := range steps {
		if err := step(start); err != nil {
			return 0, false, <-made, stepError{err}
		}
	}
	b = <-made
	for _, f := range start.files {
		attr.Files = append(attr.Files, f.Fd())
	}
	pid, err = forkLimited(start, attr, b)
	return pid, start.Sandbox, b, err
}

// reap waits for every child there is and, on Linux, every orphan that becomes
// one. No child left then means no descendant left: a living descendant always
// has a living ancestor among the helper's children.
func (t *tree) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			close(t.empty)
			return
		case pid == t.shell:
			t.exited <- exit{status: ws, last: reapDead() && nothingEscapes}
		}
	}
}

// reapDead waits for the children that have already ended and reports whether
// none is left. Usually the shell was all there was; knowing it at once saves
// the usual command a walk over the process table.
func reapDead() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return true
		case pid == 0:
			return false
		}
	}
}

// awaitEnd waits for the end of the tree, and ends it at a limit or when a stop comes. release
// is to follow.
func (t *tree) awaitEnd(limits Limits, stops <-chan stop) (status Status, stopped bool) {
	status, stopped = t.follow(stops)
	status.Exceeded = cmp.Or(t.bound.end(), limits.exceeded(status))
	return status, stopped
}

// follow waits for the end of the tree. Each value of stops asks for that end
// within a grace; stopped says that one came.
func (t *tree) follow(stops <-chan stop) (status Status, stopped bool) {
	var (
		ended bool // the shell
		empty = t.empty
		end   = ending{tree: t}
		look  = t.bound.next()
	)
	for {
		select {
		case e := <-t.exited:
			ended, status = true, t.statusOf(e.status)
			if e.last || nothingEscapes && t.sandbox && t.emptySoon() {
				return status, stopped
			}
			end.within(leftoverGrace)
		case <-empty:
			empty = nil
			if !ended {
				status = t.statusOf((<-t.exited).status)
			}
			if nothingEscapes || len(t.rest()) == 0 {
				return status, stopped
			}
			end.within(leftoverGrace)
		case s := <-stops:
			stopped = true
			end.within(s.grace)
		case <-look:
			var over bool
			if over, look = t.bound.look(t); over {
				end.within(0)
			}
		case <-end.due:
			left := end.kill()
			if left == 0 && empty == nil {
				return status, stopped
			}
			if end.hopeless() {
				status.Survivors = left
				return status, stopped
			}
		}
	}
}

// emptySoon waits a moment for the first process of a sandbox's namespace. The program that builds
// the sandbox ends before that process does, and as a rule nothing else is left: to wait saves
// two walks over the process table.
func (t *tree) emptySoon() bool {
	select {
	case <-t.empty:
		return true
	case <-time.After(sandboxPause):
		return false
	}
}

// nothingLeft reports whether nothing of a tree that has ended is left, so that the helper can start another one.
func (t *tree) nothingLeft(status Status) bool {
	return nothingEscapes && status.Survivors == 0 && t.emptySoon()
}

// ending is the way of a tree to its end: TERM, a grace, then KILL until
// nothing is left. The zero time means that it has not started.
type ending struct {
	tree   *tree
	due    <-chan time.Time // fires for the next round of KILL
	killAt time.Time
	giveUp time.Time // set by the first round of KILL
}

// within starts the ending, or shortens a grace that is still running.
func (e *ending) within(grace time.Duration) {
	if !e.giveUp.IsZero() {
		return
	}
	first, at := e.killAt.IsZero(), time.Now().Add(grace)
	if first && grace > 0 { // else nothing could heed it
		e.tree.terminate()
		e.tree.signal(syscall.SIGCONT) // a stopped process takes TERM only when it runs
	}
	if first || at.Before(e.killAt) {
		e.killAt, e.due = at, time.After(grace)
	}
}

// kill is one round of KILL. It returns how many processes there were.
func (e *ending) kill() int {
	if e.giveUp.IsZero() {
		e.giveUp = time.Now().Add(killPatience)
	}
	e.due = time.After(killPause)
	return e.tree.signal(syscall.SIGKILL)
}

func (e *ending) hopeless() bool { return time.Now().After(e.giveUp) }

// signal sends sig to everything in the tree and returns to how many processes.
func (t *tree) signal(sig syscall.Signal) int {
	rest := t.rest()
	for _, pid := range rest {
		// A process may end first, or belong to another user.
		_ = syscall.Kill(pid, sig)
	}
	return len(rest)
}

// terminate sends TERM to everything in the tree but the program that builds a sandbox: that
// ends when nothing is left inside, and would otherwise end the rest before its grace is over.
func (t *tree) terminate() {
	for _, pid := range t.rest() {
		if !t.sandbox || pid != t.shell {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// rest lists the tree's living processes.
func (t *tree) rest() []int { return descendants(os.Getpid(), t.shell) }

// statusOf tells how the shell ended. A sandbox hands on a signal as shells do, as 128
// and its number, and is taken at its word: an exit code of that size nearly always
// has that meaning.
func (t *tree) statusOf(ws syscall.WaitStatus) Status {
	const most = 31 // of the signals that have a name of their own
	signal := ws.Signal()
	if t.sandbox && !ws.Signaled() && ws.ExitStatus() > 128 && ws.ExitStatus() <= 128+most {
		signal = syscall.Signal(ws.ExitStatus() - 128)
	} else if !ws.Signaled() {
		return Status{ExitCode: ws.ExitStatus()}
	}
	return Status{ExitCode: 128 + int(signal), Signal: unix.SignalName(signal)}
}
