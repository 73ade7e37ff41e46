package acptest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Terminals are the editor's: each runs a real process on this machine. The
// zero value has none.
type Terminals struct {
	mu   sync.Mutex
	all  map[string]*clientTerminal
	next int
}

type clientTerminal struct {
	cmd      *exec.Cmd
	output   tailBuffer
	done     chan struct{} // closed when the process has ended
	released bool
}

func isTerminal(method string) bool { return strings.HasPrefix(method, methodTerminal) }

func (t *Terminals) serve(ctx context.Context, m *Message) (any, *Failure) {
	if m.Method == "terminal/create" {
		return t.create(m)
	}
	id, _ := m.Get("terminalId").(string)
	t.mu.Lock()
	terminal := t.all[id]
	known := terminal != nil && !terminal.released
	t.mu.Unlock()
	if !known {
		return nil, &Failure{Code: codeNotFound, Message: "unknown terminal " + id}
	}
	switch m.Method {
	case "terminal/output":
		return terminal.shown(), nil
	case "terminal/wait_for_exit":
		select {
		case <-terminal.done:
			return terminal.status(), nil
		case <-ctx.Done():
			return nil, &Failure{Code: codeInternal, Message: "the client ends"}
		}
	case "terminal/kill":
		terminal.kill()
	case "terminal/release":
		t.mu.Lock()
		terminal.released = true
		t.mu.Unlock()
		terminal.kill()
	default:
		return nil, &Failure{Code: -32601, Message: "no method " + m.Method}
	}
	return map[string]any{}, nil
}

func (t *Terminals) create(m *Message) (any, *Failure) {
	command, _ := m.Get("command").(string)
	var args []string
	list, _ := m.Get("args").([]any)
	for _, arg := range list {
		args = append(args, textOf(arg))
	}
	terminal := &clientTerminal{cmd: exec.Command(command, args...), done: make(chan struct{})}
	terminal.cmd.Dir, _ = m.Get("cwd").(string)
	terminal.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	env, _ := m.Get("env").([]any)
	for _, entry := range env {
		terminal.cmd.Env = append(terminal.cmd.Env, fmt.Sprintf("%s=%s", at(entry, "name"), at(entry, "value")))
	}
	if limit, ok := m.Get("outputByteLimit").(float64); ok {
		terminal.output.limit = int(limit)
	}
	terminal.cmd.WaitDelay = time.Second // for descendants that keep the output open
	terminal.cmd.Stdout, terminal.cmd.Stderr = &terminal.output, &terminal.output
	if err := terminal.cmd.Start(); err != nil {
		return nil, &Failure{Code: codeInternal, Message: err.Error()}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]*clientTerminal{}
	}
	t.next++
	id := fmt.Sprintf("terminal-%d", t.next)
	t.all[id] = terminal
	go func() { // ends with the process, which close kills
		_ = terminal.cmd.Wait() // the state tells
		close(terminal.done)
	}()
	return map[string]any{"terminalId": id}, nil
}

// kill ends the process as an editor does: politely, then not.
func (t *clientTerminal) kill() {
	if err := t.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		_ = t.cmd.Process.Kill() // it has ended, or the system does not have this signal
	}
	select {
	case <-t.done:
	case <-time.After(time.Second):
		_ = t.cmd.Process.Kill()
		<-t.done
	}
}

// status says how the process ended; it may be asked for once done is closed.
func (t *clientTerminal) status() map[string]any {
	state := t.cmd.ProcessState
	if code := state.ExitCode(); code >= 0 {
		return map[string]any{"exitCode": code}
	}
	return map[string]any{"signal": state.String()}
}

func (t *clientTerminal) shown() map[string]any {
	text, cut := t.output.text()
	result := map[string]any{"output": text, "truncated": cut}
	select {
	case <-t.done:
		result["exitStatus"] = t.status()
	default:
	}
	return result
}

// running reports whether a terminal was not released yet.
func (t *Terminals) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, terminal := range t.all {
		if !terminal.released {
			return true
		}
	}
	return false
}

// close ends what still runs, and lists what was never released.
func (t *Terminals) close() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []string
	for id, terminal := range t.all {
		if !terminal.released {
			open = append(open, id)
		}
		terminal.kill()
	}
	return open
}

// tailBuffer keeps the last bytes of a stream, as the protocol has it. It is not textcut.Tail: the
// agent's own code must not decide what its client shows.
type tailBuffer struct {
	limit int // 0 means none

	mu  sync.Mutex
	buf bytes.Buffer
	cut bool
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Write(p)
	if over := b.buf.Len() - b.limit; b.limit > 0 && over > 0 {
		b.buf.Next(over)
		b.cut = true
	}
	return len(p), nil
}

func (b *tailBuffer) text() (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ToValidUTF8(b.buf.String(), "�"), b.cut
}
