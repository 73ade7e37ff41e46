package netns

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HoldArg {
		os.Exit(Hold())
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *Space {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(self)
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
	if _, err := s.Dial(9); !errors.Is(err, ErrRefused) {
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
	conn, err := s.Dial(l.Addr().(*net.TCPAddr).Port)
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

// The user inside is the user outside, without rights over the namespace.
func TestSpace_Enter(t *testing.T) {
	s := start(t)
	if got := strings.TrimSpace(inside(t, s, "/usr/bin/id", "-u")); got != strconv.Itoa(os.Geteuid()) {
		t.Errorf("the user inside is %q", got)
	}
}

func TestSpace_Close(t *testing.T) {
	s := start(t)
	holder := s.holder.Process.Pid
	s.Close()
	s.Close()
	if _, err := os.Stat("/proc/" + strconv.Itoa(holder)); err == nil {
		t.Error("the holder is still there")
	}
	if _, err := s.Listen(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
