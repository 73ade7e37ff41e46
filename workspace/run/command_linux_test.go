package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
)

// TestRun_Cancel ends a command that ignores TERM and has a child in a session
// of its own: the call returns first, and then nothing is left.
func TestRun_Cancel(t *testing.T) {
	t.Parallel()
	g := worktest.New(t)
	text := `trap "" TERM
		(setsid sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' &)
		until [ -s pid ]; do :; done
		echo started
		while :; do echo more; sleep 0.01; done`
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("turn cancelled")
	out := lockedBuffer{seen: make(chan struct{})}
	c := g.Start(t)
	returned := make(chan error, 1)
	go func() {
		_, err := c.Processes().Run(ctx, tools.ShellCommand{Text: text}, &out)
		returned <- err
	}()
	<-out.seen
	cancel(cause)
	if err := <-returned; !errors.Is(err, cause) {
		t.Errorf("err = %v", err)
	}
	size := len(out.String())
	limited, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := g.Runner().WaitForAbandoned(limited); err != nil {
		t.Fatal(err)
	}
	worktest.Same(t, "output after the answer", len(out.String()), size)
	pid, err := strconv.Atoi(strings.TrimSpace(worktest.Get(t, g.In("pid"))))
	if err != nil {
		t.Fatal(err)
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !strings.HasPrefix(state, "Z") { // init reaps it when it comes to that
		t.Errorf("process %d of the command is still there: %v", pid, err)
	}
}
