//go:build linux || darwin

package launch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// program is the spec of sh as a program of its own, with no shell of ours
// between.
func program(t testing.TB, script string, args ...string) Spec {
	t.Helper()
	s := spec(t, "unused")
	s.Argv = append([]string{"/bin/sh", "-c", script, "sh"}, args...)
	s.Text, s.Shell = "", Shell{}
	return s
}

func runStreams(t testing.TB, s Spec, streams Streams) Status {
	t.Helper()
	p, err := launcher(t).StartStreams(t.Context(), s, streams)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0); <-p.Done() })
	status, err := wait(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestStartStreams(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // more than any pipe holds
	tests := []struct {
		name, script string
		args         []string
		input        []byte
		out, errs    string
		status       Status
	}{
		{"arguments as they are", `printf '<%s>' "$@"`, []string{"a b", "", "$(id)", "`id`", "-x", "\xff"}, nil, "<a b><><$(id)><`id`><-x><\xff>", "", Status{}},
		{"input", "cat", nil, []byte("text\x00\xff"), "text\x00\xff", "", Status{}},
		{"large input", "cat", nil, large, string(large), "", Status{}},
		{"no input", "cat; echo end", nil, nil, "end\n", "", Status{}},
		{"input that is not read", "exit 3", nil, large, "", "", Status{ExitCode: 3}},
		{"input that is read in part", "head -c 3", nil, large, "012", "", Status{}},
		{"errors apart", "echo out; echo err >&2; exit 2", nil, nil, "out\n", "err\n", Status{ExitCode: 2}},
		{"many errors", "head -c 300000 /dev/zero | tr '\\0' e >&2; echo out", nil, nil, "out\n", strings.Repeat("e", 300000), Status{}},
		{"what is left behind holds no pipe", "cat; sleep 300 & echo out", nil, []byte("in"), "inout\n", "", Status{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, errs := newOutput(), newOutput()
			status := runStreams(t, program(t, tt.script, tt.args...), Streams{Input: tt.input, Output: out, Errors: errs})
			if d := cmp.Diff(tt.status, status); d != "" {
				t.Errorf("status (-want +got):\n%s", d)
			}
			if out.String() != tt.out {
				t.Errorf("output %.100q, want %.100q", out, tt.out)
			}
			if errs.String() != tt.errs {
				t.Errorf("errors %.100q, want %.100q", errs, tt.errs)
			}
		})
	}
}

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// A writer that fails loses its own stream, and the other goes on. More than a
// pipe holds goes to the first, so that it has failed when the other starts.
func TestStartStreams_WriterFails(t *testing.T) {
	t.Parallel()
	errs := newOutput()
	if status := runStreams(t, program(t, "head -c 300000 /dev/zero; echo err >&2"), Streams{Output: full{}, Errors: errs}); errs.String() != "err\n" || status.ExitCode != 0 {
		t.Errorf("errors %q, %+v", errs, status)
	}
	out := newOutput()
	if status := runStreams(t, program(t, "head -c 300000 /dev/zero >&2; echo out"), Streams{Output: out, Errors: full{}}); out.String() != "out\n" || status.ExitCode != 0 {
		t.Errorf("output %q, %+v", out, status)
	}
}

func TestStartStreams_OneStream(t *testing.T) {
	t.Parallel()
	out := newOutput()
	runStreams(t, program(t, "echo 1; echo 2 >&2; echo 3"), Streams{Output: out})
	if out.String() != "1\n2\n3\n" {
		t.Errorf("output %q is not in order", out)
	}
}

// A program has its three standard descriptors and no other (X2).
func TestStartStreams_Descriptors(t *testing.T) {
	t.Parallel()
	out, errs := newOutput(), newOutput()
	dir := "/proc/self/fd"
	if _, err := os.Stat(dir); err != nil {
		dir = "/dev/fd"
	}
	s := program(t, "")
	s.Argv = []string{"/bin/ls", dir}
	runStreams(t, s, Streams{Input: []byte("x"), Output: out, Errors: errs})
	// 3 is the directory that ls reads.
	if got := strings.Fields(out.String()); !cmp.Equal(got, []string{"0", "1", "2", "3"}) {
		t.Errorf("descriptors %q, errors %q", got, errs)
	}
}

func TestStartStreams_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		change     func(*Spec)
	}{
		{"relative program", "not an absolute path", func(s *Spec) { s.Argv[0] = "sh" }},
		{"nul", "NUL byte", func(s *Spec) { s.Argv[1] = "a\x00b" }},
		{"command too", "both a command and a program", func(s *Spec) { s.Text = "true" }},
		{"missing", "no such file", func(s *Spec) { s.Argv[0] = "/no/such/program" }},
		{"no program", "permission denied", func(s *Spec) { s.Argv[0] = "/etc/passwd" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := program(t, "true")
			tt.change(&s)
			p, err := launcher(t).StartStreams(t.Context(), s, Streams{Input: []byte("x"), Errors: newOutput()})
			if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v; want an error with %q", p, err, tt.want)
			}
		})
	}
}

func startPiped(t testing.TB, script string, errs io.Writer) *Piped {
	t.Helper()
	p, err := launcher(t).StartPiped(t.Context(), program(t, script), errs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(0)
		<-p.Done()
		p.Stdout.Close()
	})
	return p
}

func TestStartPiped_Conversation(t *testing.T) {
	t.Parallel()
	errs := newOutput()
	p := startPiped(t, `echo ready >&2; while read -r line; do echo "got $line"; done; echo bye; exit 7`, errs)
	r := bufio.NewReader(p.Stdout)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(p.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := r.ReadString('\n'); err != nil || line != "got "+word+"\n" {
			t.Fatalf("answer %q, %v", line, err)
		}
	}
	if err := p.Stdin.Close(); err != nil {
		t.Error(err)
	}
	status, err := wait(t, p.Process)
	if err != nil || status.ExitCode != 7 {
		t.Errorf("got %+v, %v; want exit code 7", status, err)
	}
	// What was printed before the end is still there after it.
	rest, err := io.ReadAll(r)
	if err != nil || string(rest) != "bye\n" {
		t.Errorf("rest %q, %v", rest, err)
	}
	if errs.String() != "ready\n" {
		t.Errorf("errors %q", errs)
	}
}

// The end of the tree ends a write that a program does not take, and a read.
func TestStartPiped_Stop(t *testing.T) {
	t.Parallel()
	p := startPiped(t, "trap '' TERM; sleep 300 & while :; do sleep 1; done", nil)
	wrote, read := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := p.Stdin.Write(make([]byte, 1<<20))
		wrote <- err
	}()
	go func() {
		_, err := p.Stdout.Read(make([]byte, 1))
		read <- err
	}()
	p.Stop(50 * time.Millisecond)
	<-p.Done()
	if err := <-wrote; err == nil {
		t.Error("a write to a program that is gone succeeded")
	}
	if err := <-read; !errors.Is(err, io.EOF) {
		t.Errorf("read: %v, want %v", err, io.EOF)
	}
}

func TestStartPiped_StartFails(t *testing.T) {
	t.Parallel()
	s := program(t, "true")
	s.Argv = []string{"/no/such/server"}
	if p, err := launcher(t).StartPiped(t.Context(), s, nil); p != nil || err == nil {
		t.Errorf("got %v, %v; want an error", p, err)
	}
}

// slowFirst is a writer that takes its first piece only when it may.
type slowFirst struct {
	bytes.Buffer
	may     chan struct{}
	started chan struct{}
	once    sync.Once
}

func (w *slowFirst) Write(b []byte) (int, error) {
	w.once.Do(func() {
		close(w.started)
		<-w.may
	})
	return w.Buffer.Write(b)
}

// Stopping a program that has failed returns its stderr tail, also the lines that were
// still on their way.
func TestStartPiped_StderrTail(t *testing.T) {
	t.Parallel()
	errs := &slowFirst{may: make(chan struct{}), started: make(chan struct{})}
	p, err := launcher(t).StartPiped(t.Context(), program(t, `echo first >&2; read -r _; echo last >&2; echo out; read -r _`), errs)
	if err != nil {
		t.Fatal(err)
	}
	<-errs.started
	if _, err := io.WriteString(p.Stdin, "go on\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || line != "out\n" {
		t.Fatalf("%q, %v", line, err)
	}
	p.Stop(time.Second)
	close(errs.may)
	if _, err := wait(t, p.Process); err != nil {
		t.Fatal(err)
	}
	if got := errs.String(); got != "first\nlast\n" {
		t.Errorf("the words are %q", got)
	}
}
