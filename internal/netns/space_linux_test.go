package netns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// ordinaryArg makes the test binary an agent of an ordinary user; a second argument closes its
// memory to others, as the agent does.
const ordinaryArg = "__ordinary"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HoldArg {
		os.Exit(Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == ordinaryArg {
		os.Exit(startOrdinary(len(os.Args) > 2))
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *Space {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(self, nil)
	if err != nil {
		testreq.Skip(t, "this machine makes no network namespaces: "+err.Error())
	}
	t.Cleanup(s.Close)
	return s
}

func inside(t *testing.T, s *Space, argv ...string) string {
	t.Helper()
	argv = append(s.Enter(), argv...)
	var out bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	return out.String()
}

// A program inside reaches the agent's listener, and nothing of the machine.
func TestSpace_Listen(t *testing.T) {
	s := start(t)
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "hello from outside\n")
			conn.Close()
		}
	}()
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	read := func(addr net.Addr) string {
		return inside(t, s, "/bin/bash", "-c", "cat < /dev/tcp/127.0.0.1/"+strconv.Itoa(addr.(*net.TCPAddr).Port))
	}
	if got := read(l.Addr()); got != "hello from outside\n" {
		t.Errorf("inside: %q", got)
	}
	if got := read(outside.Addr()); !strings.Contains(got, "Connection refused") {
		t.Errorf("a server of the machine answers: %q", got)
	}
	if got := inside(t, s, "/bin/bash", "-c", "cat < /dev/tcp/192.0.2.1/80"); !strings.Contains(got, "unreachable") {
		t.Errorf("there is a way out: %q", got)
	}
}

// A server inside is reached by other programs inside and by the agent.
func TestSpace_Dial(t *testing.T) {
	s := start(t)
	if _, err := s.Dial(t.Context(), 9); !errors.Is(err, ErrRefused) {
		t.Errorf("a port without a server: %v", err)
	}
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	}()
	conn, err := s.Dial(t.Context(), l.Addr().(*net.TCPAddr).Port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "echo")
	_ = conn.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "echo" {
		t.Errorf("%q, %v", got, err)
	}
}

// A server that accepts nothing holds up its own client for a while and no other.
func TestSpace_DialFull(t *testing.T) {
	s := start(t)
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) })
	if err != nil {
		t.Fatal(err)
	}
	full := func(ctx context.Context) error {
		for range 8 {
			conn, err := s.Dial(ctx, port)
			if err != nil {
				return err
			}
			defer conn.Close()
		}
		return nil
	}
	waits := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { waits <- full(ctx) }()
	time.Sleep(100 * time.Millisecond) // until it waits, most probably
	other, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	select {
	case err := <-waits:
		t.Fatalf("another listener came only after the client that waits: %v", err)
	default:
	}
	gaveUp := errors.New("gave up")
	cancel(gaveUp)
	if err := <-waits; !errors.Is(err, gaveUp) {
		t.Errorf("the client that waits: %v", err)
	}
	began := time.Now()
	if err := full(t.Context()); err == nil || time.Since(began) > testreq.Slack(3*dialLimit) {
		t.Errorf("a client that goes on waiting: %v after %v", err, time.Since(began))
	}
}

// The sockets that listen inside are listed, those of the machine by themselves.
func TestListeners(t *testing.T) {
	s := start(t)
	inside, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	outside, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	check := func(where string, list []Listener, err error, has, lacks net.Listener) {
		t.Helper()
		if want := socketOf(t, has); err != nil || !slices.Contains(list, want) {
			t.Errorf("%s: %v, %v; %v is missing", where, list, err, want)
		}
		if slices.Contains(list, socketOf(t, lacks)) {
			t.Errorf("%s: %v has a socket of the other network", where, list)
		}
	}
	list, err := s.Listeners()
	check("inside", list, err, inside, outside)
	list, err = Listeners()
	check("outside", list, err, outside, inside)
}

func socketOf(t *testing.T, l net.Listener) Listener {
	t.Helper()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var stat unix.Stat_t
	_ = raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &stat) })
	if err != nil {
		t.Fatal(err)
	}
	return Listener{Inode: stat.Ino, Port: l.Addr().(*net.TCPAddr).Port}
}

// What is not an answer of the kernel is an error or nothing, and never the end of the program.
func FuzzReadListeners(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0}, 16))
	f.Add(append([]byte{88, 0, 0, 0, 20, 0, 2, 0}, make([]byte, 80)...))
	f.Fuzz(func(t *testing.T, answer []byte) {
		var list []Listener
		_, _ = readListeners(answer, &list)
		if len(list) > len(answer)/diagAnswerSize {
			t.Errorf("%d listeners in %d bytes", len(list), len(answer))
		}
	})
}

// BenchmarkListeners is what it costs to look what listens inside.
func BenchmarkListeners(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	s, err := Start(self, nil)
	if err != nil {
		testreq.Skip(b, err.Error())
	}
	defer s.Close()
	for b.Loop() {
		if _, err := s.Listeners(); err != nil {
			b.Fatal(err)
		}
	}
}

// The user inside is the user outside, without rights over the namespace.
func TestSpace_Enter(t *testing.T) {
	s := start(t)
	if got := strings.TrimSpace(inside(t, s, "/usr/bin/id", "-u")); got != strconv.Itoa(os.Geteuid()) {
		t.Errorf("the user inside is %q", got)
	}
}

func startOrdinary(closed bool) int {
	if closed {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	s, err := Start("/proc/self/exe", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Close()
	argv := append(s.Enter(), "/bin/true")
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
		return 1
	}
	return 0
}

// An ordinary user has namespaces too, from an agent whose memory is closed to others.
func TestSpace_OrdinaryUser(t *testing.T) {
	start(t)
	run := func(more ...string) error {
		cmd := exec.Command("/proc/self/exe", append([]string{ordinaryArg}, more...)...)
		cmd.Dir = "/"
		if os.Geteuid() == 0 {
			const ordinary = 65534
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := run(); err != nil {
		testreq.Skip(t, "users make no network namespaces here: "+err.Error())
	}
	if err := run("closed"); err != nil {
		t.Error(err)
	}
}

// Where the agent may not make namespaces and a program of the system may, that program makes them.
func TestSpace_ByAnotherProgram(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		testreq.Skip(t, "bubblewrap is not installed")
	}
	start(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	restricted := filepath.Join(t.TempDir(), "self")
	testfile.Executable(t, restricted, fmt.Sprintf("#!/bin/sh\n[ \"$2\" = %s ] && exec %s \"$@\"\necho not permitted >&2; exit 1\n", insideArg, self))
	if _, err := Start(restricted, nil); err == nil || !strings.Contains(err.Error(), "not permitted") {
		t.Fatalf("without the program: %v", err)
	}
	if _, err := Start(restricted, []string{"/bin/false"}); err == nil || !strings.Contains(err.Error(), "not permitted") {
		t.Errorf("with a program that fails: %v", err)
	}
	s, err := Start(restricted, sandbox.Report{Kind: sandbox.Bubblewrap, Program: bwrap}.Apart())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.WriteString(conn, "hello from outside\n")
			conn.Close()
		}
	}()
	address := "/dev/tcp/127.0.0.1/" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if got := inside(t, s, "/bin/bash", "-c", "cat < "+address); got != "hello from outside\n" {
		t.Errorf("inside: %q", got)
	}
	// A sandbox is built inside.
	if got := inside(t, s, bwrap, "--unshare-user", "--ro-bind", "/", "/", "--dev", "/dev", "/bin/sh", "-c", "id -u; cat /proc/net/dev | grep -c :"); got != fmt.Sprintf("%d\n1\n", os.Geteuid()) {
		t.Errorf("a sandbox inside: %q", got)
	}
	holder := s.holder.Process.Pid
	s.Close()
	if _, err := os.Stat("/proc/" + strconv.Itoa(holder)); err == nil {
		t.Errorf("the holder %d is there after Close", holder)
	}
}

func TestSpace_Close(t *testing.T) {
	s := start(t)
	f, inside, err := s.request(listener)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	holder := s.holder.Process.Pid
	s.Close()
	s.Close()
	for _, pid := range []int{holder, inside} {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && (pid == holder || !strings.Contains(string(stat), ") Z ")) {
			t.Errorf("process %d of %d and %d is still there: %s", pid, holder, inside, stat)
		}
	}
	if _, err := s.Listen(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
