package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// heldPorts are the ports of a job as a test says.
type heldPorts struct {
	mu    sync.Mutex
	ports []int
	looks int
}

func (h *heldPorts) set(ports ...int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ports = ports
}

func (h *heldPorts) look() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks++
	return slices.Clone(h.ports)
}

func (h *heldPorts) looked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.looks
}

// serves is a job that runs until it is stopped, and prints what comes over a channel.
func serves(n jobNetwork, prints <-chan string) work {
	return func(ctx context.Context, started func(jobNetwork), output io.Writer) (tools.Exit, error) {
		started(n)
		for {
			select {
			case text := <-prints:
				_, _ = io.WriteString(output, text)
			case <-ctx.Done():
				return tools.Exit{}, context.Cause(ctx)
			}
		}
	}
}

func (t *told) ports() JobHooks {
	hooks := t.hooks()
	hooks.Listens = func(j tools.Job) { t.add("%s listens on %v", j.ID, j.Ports) }
	hooks.Forwards = func(f Forwarding) {
		t.add("%s port %d at %v: open %v, by the user %v", f.Job.ID, f.Port, f.HostPort > 0, f.Open, f.ByUser)
	}
	return hooks
}

func noDial(context.Context, int) (net.Conn, error) { return nil, errors.New("no server") }

// TestJobs_Ports: a port is seen within a second at first and within five later, soon after the job
// has printed something, and when the job is read; each change is told once, and none after the end.
func TestJobs_Ports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard told
		js := testJobs(heard.ports(), nil)
		var held heldPorts
		prints := make(chan string)
		job := start(t, js, serves(jobNetwork{ports: held.look}, prints))
		time.Sleep(portFirst)
		if n := held.looked(); n < 25 || n > 31 {
			t.Errorf("%d looks in the first %v", n, portFirst)
		}
		held.set(5173)
		time.Sleep(portPaceLater + time.Second/2) // between two looks
		before := held.looked()
		time.Sleep(10 * time.Minute)
		if n := held.looked() - before; n < 115 || n > 121 {
			t.Errorf("%d looks in ten minutes", n)
		}
		held.set(5173, 5174)
		prints <- "on 5174, too\n"
		time.Sleep(portGather)
		synctest.Wait()
		held.set(5174)
		out, err := js.View("").Read(t.Context(), job.ID, tools.JobWait{})
		if want := []kinds.Port{{Number: 5174}}; err != nil || !slices.Equal(out.Ports, want) {
			t.Errorf("the read says %v, %v", out.Ports, err)
		}
		held.set()
		js.RefreshPorts()
		held.set(80)
		stopped, err := js.View("").Stop(t.Context(), job.ID)
		if err != nil || stopped.Ports != nil {
			t.Errorf("after the end: %v, %v", stopped.Ports, err)
		}
		want := []string{
			"job_1 started",
			"job_1 listens on [" + kinds.Port{Number: 5173}.String() + "]",
			`job_1 printed "on 5174, too\n"`,
			fmt.Sprintf("job_1 listens on %v", []kinds.Port{{Number: 5173}, {Number: 5174}}),
			fmt.Sprintf("job_1 listens on %v", []kinds.Port{{Number: 5174}}),
			"job_1 listens on []",
			"job_1 stopped",
		}
		if diff := cmp.Diff(want, heard.lines); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestJobs_PortsOfPrinter: a job that prints without end is not looked at without end.
func TestJobs_PortsOfPrinter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := testJobs(JobHooks{}, nil)
		var held heldPorts
		prints := make(chan string)
		start(t, js, serves(jobNetwork{ports: held.look}, prints))
		for range 10_000 {
			prints <- "x"
			time.Sleep(time.Millisecond)
		}
		if n := held.looked(); n > 51 {
			t.Errorf("%d looks in ten seconds", n)
		}
		js.Close()
		js.wait()
	})
}

// TestJobs_Forward: what is opened is told, stays open while the server starts again, and is closed by
// the user and with the job. What is not a job's port is not opened.
func TestJobs_Forward(t *testing.T) {
	t.Parallel()
	var heard told
	js := testJobs(heard.ports(), nil)
	inside, outside := &heldPorts{ports: []int{5173}}, &heldPorts{ports: []int{8080}}
	job := start(t, js, serves(jobNetwork{inside.look, noDial}, nil))
	start(t, js, serves(jobNetwork{ports: outside.look}, nil))
	refused := func(port, hostPort int, want string) {
		t.Helper()
		if _, err := js.Forward(port, hostPort); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d at %d: %v, want %q", port, hostPort, err, want)
		}
	}
	refused(22, 0, "no command in the background listens on port 22; there are [5173 8080]")
	refused(8080, 0, "it is a port of this machine as it is")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	refused(5173, l.Addr().(*net.TCPAddr).Port, "another program has it")

	open, err := js.Forward(5173, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := open.Ports[0].Open
	if at == 0 {
		t.Fatalf("ports %v", open.Ports)
	}
	refused(5173, 0, "is open already")
	inside.set() // the server starts again
	js.RefreshPorts()
	if conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", at)); err != nil {
		t.Errorf("while the server starts again: %v", err)
	} else {
		conn.Close()
	}
	if !js.CloseForward(5173) || js.CloseForward(5173) {
		t.Error("it is not closed once")
	}
	refused(5173, 0, "no command in the background listens on port 5173")
	inside.set(5173)
	if open, err = js.Forward(5173, 0); err != nil {
		t.Fatal(err)
	}
	at = open.Ports[0].Open
	if _, err := js.View("").Stop(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", at)); err == nil {
		conn.Close()
		t.Error("it is open after the job has ended")
	}
	js.Close()
	js.wait()
	if last := heard.lines[len(heard.lines)-1]; last != "job_1 stopped" {
		t.Errorf("told last: %s", last)
	}
	heard.onlyForwards(t, "open true, by the user true", "open false, by the user true", "open true, by the user true", "open false, by the user false")
}

// TestJobs_ForwardClosing: that a port is closed is told while the session closes, too.
func TestJobs_ForwardClosing(t *testing.T) {
	t.Parallel()
	var heard told
	js := testJobs(heard.ports(), nil)
	start(t, js, serves(jobNetwork{(&heldPorts{ports: []int{5173}}).look, noDial}, nil))
	if _, err := js.Forward(5173, 0); err != nil {
		t.Fatal(err)
	}
	js.Close()
	js.wait()
	heard.onlyForwards(t, "open true, by the user true", "open false, by the user false")
}

// onlyForwards compares what was told about ports that were opened and closed.
func (t *told) onlyForwards(tt *testing.T, want ...string) {
	tt.Helper()
	var got []string
	for _, line := range t.lines {
		if what, ok := strings.CutPrefix(line, "job_1 port 5173 at true: "); ok {
			got = append(got, what)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tt.Errorf("told of ports (-want +got):\n%s", diff)
	}
}

// TestJobs_PortsBounded: of a job that listens on more ports than are shown, the lowest are.
func TestJobs_PortsBounded(t *testing.T) {
	t.Parallel()
	js := testJobs(JobHooks{}, nil)
	var many []int
	for port := 2 * maxPorts; port > 0; port-- {
		many = append(many, port)
	}
	job := start(t, js, serves(jobNetwork{ports: (&heldPorts{ports: many}).look}, nil))
	js.RefreshPorts()
	out, _ := js.View("").Read(t.Context(), job.ID, tools.JobWait{})
	if len(out.Ports) != maxPorts || out.Ports[0].Number != 1 {
		t.Errorf("ports %v", out.Ports)
	}
	js.Close()
	js.wait()
}
