package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/testreq"
)

// callsArg makes the test binary make the system calls of the test below.
const callsArg = "__calls"

// systemCalls makes calls that a filter refuses, or must not, and says what came of
// each. The socket is one of a service, by its path.
func systemCalls(socket string, out io.Writer) int {
	runtime.LockOSThread()
	try := func(name string, call, a, b uintptr) {
		r, _, errno := unix.Syscall6(call, a, b, 0, 0, 0, 0)
		if errno == 0 && call == unix.SYS_SOCKET {
			_ = unix.Close(int(r))
		}
		fmt.Fprintf(out, "%s %d\n", name, int(errno))
	}
	try("io_uring", unix.SYS_IO_URING_SETUP, 1, 0)
	try("keyctl", unix.SYS_KEYCTL, 0, 0)
	try("ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getppid()))
	try("bpf", unix.SYS_BPF, 0, 0)
	try("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0)
	try("clone", unix.SYS_CLONE, unix.CLONE_NEWUSER, 0)
	try("clone3", unix.SYS_CLONE3, 0, 0)
	try("userfaultfd", unix.SYS_USERFAULTFD, 0, 0)
	try("tiocsti", unix.SYS_IOCTL, 0, unix.TIOCSTI)
	try("ioctl", unix.SYS_IOCTL, 0, unix.TIOCGWINSZ)
	try("vsock", unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM)
	try("packet", unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW)
	try("tcp", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)
	try("udp", unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM)
	try("unix", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	fmt.Fprintf(out, "pair %v\n", err == nil && unix.Close(pair[0]) == nil)
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		conn.Close()
	}
	fmt.Fprintf(out, "service %v\n", err == nil)
	return 0
}

// TestSeccomp makes system calls in each kind of sandbox.
func TestSeccomp(t *testing.T) {
	if auditArch() == 0 {
		testreq.Skip(t, "there is no filter for this kind of machine")
	}
	const perm, nosys, notty = int(unix.EPERM), int(unix.ENOSYS), int(unix.ENOTTY)
	always := map[string]string{"clone3": fmt.Sprint(nosys), "ioctl": fmt.Sprint(notty), "pair": "true"}
	for _, name := range []string{"io_uring", "keyctl", "ptrace", "bpf", "unshare", "clone", "userfaultfd", "tiocsti", "vsock", "packet"} {
		always[name] = fmt.Sprint(perm)
	}
	for _, tt := range []struct {
		kind    Kind
		network bool
		want    map[string]string
	}{
		{Bubblewrap, false, map[string]string{"tcp": "0", "udp": "0", "unix": "0", "service": "false"}},
		{Bubblewrap, true, map[string]string{"tcp": "0", "udp": "0", "unix": "1", "service": "false"}},
		{Namespaces, false, map[string]string{"tcp": "0", "udp": "0", "unix": "0", "service": "false"}},
		{Namespaces, true, map[string]string{"tcp": "0", "udp": "0", "unix": "1", "service": "false"}},
		{Landlock, false, map[string]string{"tcp": "1", "udp": "1", "unix": "1", "service": "false"}},
		{Landlock, true, map[string]string{"tcp": "0", "udp": "0", "unix": "1", "service": "false"}},
	} {
		t.Run(fmt.Sprint(tt.kind, " network ", tt.network), func(t *testing.T) {
			g := newFixture(t, tt.kind)
			g.request.Network = tt.network
			socket := filepath.Join(g.dir, "agent.sock")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			g.box.Environ = append(g.box.Environ, "SSH_AUTH_SOCK="+socket)
			g.request.Readable = []string{filepath.Dir(launcher(t).Self), g.dir}
			c, err := g.box.Confine(t.Context(), g.request)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Release()
			spec := launch.Spec{Argv: []string{launcher(t).Self, callsArg, socket}, Dir: g.project}
			if spec.Policy, err = c.Policy.Encode(); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			p, err := launcher(t).StartStreams(t.Context(), spec, launch.Streams{Output: &out})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := p.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for line := range strings.Lines(out.String()) {
				name, result, _ := strings.Cut(strings.TrimSpace(line), " ")
				got[name] = result
			}
			for _, want := range []map[string]string{always, tt.want} {
				for name, result := range want {
					if got[name] != result {
						t.Errorf("%s: %q, want %q", name, got[name], result)
					}
				}
			}
		})
	}
}
