package acptest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Agent is a running agent and the client's end of its streams. Its methods
// are for the goroutine of the test, unless they say otherwise.
type Agent struct {
	// Home is the agent's home directory.
	Home string
	// PID is its process id.
	PID int

	tb     TB
	opts   Options
	run    string // marks the processes of this run
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	record *record
	stderr lockedBuffer
	read   sync.WaitGroup // the readers
	served sync.WaitGroup // answers to the agent's requests
	quit   context.CancelFunc
	ctx    context.Context

	startTicks uint64 // when it started, as the system counts; 0 where that is unknown

	gate sync.Mutex // held while reading is paused

	// Lines after the last ones that Expect and NextPermission returned.
	cursor, askedFrom int

	exit    sync.Once
	exitErr error

	mu       sync.Mutex // guards what follows, and the order of writes
	nextID   int
	problems []string
	closed   bool
}

// Start starts the agent. It is closed, and its run checked, when the test
// ends.
func Start(tb TB, o Options) *Agent {
	tb.Helper()
	a := &Agent{tb: tb, opts: o, Home: o.Home, run: rand.Text(), record: newRecord()}
	a.ctx, a.quit = context.WithCancel(context.Background())
	if a.Home == "" {
		a.Home = tb.TempDir()
	}
	script := ""
	if o.Model != "" {
		script = filepath.Join(tb.TempDir(), "model.jsonl")
		if err := os.WriteFile(script, []byte(o.Model), 0o600); err != nil {
			tb.Fatalf("write the model script: %v", err)
		}
	}
	program := o.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			tb.Fatalf("find the test binary: %v", err)
		}
	}
	a.cmd = exec.Command(program, o.Args...)
	a.cmd.Dir, a.cmd.Env, a.cmd.Stderr = a.Home, o.environ(tb, a.Home, a.run, script), &a.stderr
	if o.Stderr != nil {
		a.cmd.Stderr = o.Stderr
	}
	if err := a.start(); err != nil {
		tb.Fatalf("start the agent: %v", err)
	}
	tb.Cleanup(a.Close)
	return a
}

func (a *Agent) start() (err error) {
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return err
	}
	if a.stdout, err = a.cmd.StdoutPipe(); err != nil {
		return err
	}
	if err = a.cmd.Start(); err != nil {
		return err
	}
	a.PID = a.cmd.Process.Pid
	a.startTicks = startTicks(a.PID)
	a.read.Go(a.readOutput)
	return nil
}

// maxLine bounds a line of the agent's.
const maxLine = 64 << 20

// readOutput records and serves the agent's lines until its output ends.
func (a *Agent) readOutput() {
	defer a.record.end()
	in := bufio.NewReaderSize(gated{a}, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			a.receive(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				a.problem("read stdout: %v", err)
			}
			return
		}
	}
}

// gated reads the agent's output unless that is paused.
type gated struct{ a *Agent }

func (g gated) Read(p []byte) (int, error) {
	g.a.gate.Lock()
	defer g.a.gate.Unlock()
	return g.a.stdout.Read(p)
}

// Pause stops reading what the agent sends until Resume: the pipe fills up, and
// then the agent has to wait. One Read that has started still ends.
func (a *Agent) Pause() { a.gate.Lock() }

// Resume ends Pause.
func (a *Agent) Resume() { a.gate.Unlock() }

// receive records one line of the agent and answers it.
func (a *Agent) receive(line []byte) {
	now := time.Now()
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	switch {
	case !whole && !a.opts.Killed:
		a.problem("stdout ended within a line: %.200q", line)
	case len(line) > maxLine:
		a.problem("a line of %d bytes on stdout", len(line))
	}
	m, err := Parse(text)
	if err != nil {
		m = nil
		if whole || !a.opts.Killed {
			a.problem("stdout has a line that is no message: %v: %.200q", err, line)
		}
	}
	a.record.add(Line{FromAgent: true, At: now, Raw: string(text), Message: m})
	if m != nil && m.IsRequest() {
		a.serve(m)
	}
}

// problem notes what is wrong; the check at the end reports it.
func (a *Agent) problem(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// Lines returns what has gone over the wire so far. It may be called from any
// goroutine.
func (a *Agent) Lines() []Line {
	lines, _, _ := a.record.from(0)
	return lines
}

// Stderr is what the agent has written there. It may be called from any
// goroutine.
func (a *Agent) Stderr() string { return a.stderr.String() }

// lockedBuffer is a buffer that may be written and read side by side.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// fatal fails the test, with the last lines of the record and stderr.
func (a *Agent) fatal(format string, args ...any) {
	a.tb.Helper()
	a.tb.Fatalf("%s\nthe last lines:\n%s\nstderr:\n%.4000s", fmt.Sprintf(format, args...), a.record.tail(20), a.Stderr())
}

// dumpWithin is how long an agent may take to write what its goroutines do.
const dumpWithin = 5 * time.Second

// hangs fails the test because the agent does not answer. It says what the agent's goroutines do, and
// which processes have its output open: where the agent is gone, one of them keeps the test waiting.
func (a *Agent) hangs(what string) {
	a.tb.Helper()
	holders, state := a.holders()
	asked := a.Signal(syscall.SIGQUIT)
	_, _, _ = a.record.wait(dumpWithin, 0, func(*Message) bool { return false })
	a.fatal("%s; its state is %q, its output is open in %v; what it does (%v): %.100000s", what, state, holders, asked, a.Stderr())
}
