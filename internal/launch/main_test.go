package launch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/testkit/testreq"
)

// agentArg makes the test binary an agent that starts a command and waits to
// be killed, listenArg a server that only listens.
const (
	agentArg  = "__agent"
	listenArg = "__listen"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case HelperArg:
			// Not os.Exit: the race detector would sleep for a second there.
			syscall.Exit(Helper(os.Args[2:], testSteps()...))
		case agentArg:
			os.Exit(testAgent(os.Args[2]))
		case listenArg:
			os.Exit(testListen())
		}
	}
	goleak.VerifyTestMain(m)
}

// testAgent runs text until it is killed, and has a spare helper. It says when the command
// has started to print.
func testAgent(text string) int {
	l := &Launcher{Self: os.Args[0]}
	sh, err := FindShell("", nil)
	if err != nil {
		return 1
	}
	s := Spec{Text: text, Shell: sh, Dir: "/", Env: []string{"PATH=" + defaultPath}}
	p, err := l.StartStreams(context.Background(), s, Streams{Output: os.Stdout})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l.Warm(nil)
	<-p.Done()
	return 0
}

// output is a writer that can be read while it is written.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	count int
	wrote chan struct{} // closed by the first write
	once  sync.Once
}

func newOutput() *output { return &output{wrote: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.once.Do(func() { close(o.wrote) })
	o.count++
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) writes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

func launcher(t testing.TB) *Launcher {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &Launcher{Self: self}
	t.Cleanup(l.Dismiss)
	return l
}

func spec(t testing.TB, text string) Spec {
	t.Helper()
	sh, err := FindShell(os.Getenv("PATH"), nil)
	if err != nil {
		testreq.Skip(t, err.Error())
	}
	return Spec{Text: text, Shell: sh, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func start(t testing.TB, s Spec, out *output) *Process {
	t.Helper()
	p, err := launcher(t).StartStreams(t.Context(), s, Streams{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(0)
		<-p.Done()
	})
	return p
}

// hangs is how long a test waits for what has to come, however busy the machine is.
const hangs = time.Minute

// wait is Wait with the deadline that a hanging test needs.
func wait(t testing.TB, p *Process) (Status, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	return p.Wait(ctx)
}

// eventually polls what no channel can tell: processes of another parent.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hangs); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", hangs, what)
		}
	}
}
