package sandbox

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testreq"
)

// outside are live listeners of this machine, which count who comes.
type outside struct {
	targets
	came atomic.Int64
}

// listenAround starts the listeners; project and home are the command's.
func listenAround(t *testing.T, project, home string) *outside {
	t.Helper()
	o := &outside{}
	hosts := []string{loopback, "::1"}
	if own := ownAddress(t); own != loopback {
		hosts = append(hosts, own)
	}
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Logf("%s: not tried on this machine: %v", host, err)
			continue
		}
		o.accept(t, l)
		o.TCP = append(o.TCP, l.Addr().String())
		packets, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatal(err)
		}
		o.receive(t, packets)
		o.UDP = append(o.UDP, packets.LocalAddr().String())
	}
	tmp, err := os.MkdirTemp("/tmp", "acp-agent-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	o.Sockets = []string{filepath.Join(home, "s"), filepath.Join(project, "s"), filepath.Join(tmp, "s"), "@" + filepath.Base(tmp), filepath.Join(project, "relative")}
	for _, path := range append(o.Sockets[:4:4], "relative") {
		l, err := listenIn(project, path)
		if err != nil {
			t.Fatal(err)
		}
		o.accept(t, l)
	}
	o.Packets = []string{filepath.Join(home, "p"), filepath.Join(project, "p"), "@" + filepath.Base(tmp) + "-p"}
	for _, path := range o.Packets {
		packets, err := net.ListenPacket("unixgram", path)
		if err != nil {
			t.Fatal(err)
		}
		o.receive(t, packets)
	}
	o.VSock = o.vsock(t)
	return o
}

// listenIn listens at a path as seen from a directory. It does so on a thread that has a working
// directory of its own and ends with the goroutine, for other tests run beside it.
func listenIn(dir, path string) (l net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and is not unlocked, which ends the thread
		if err = unix.Unshare(unix.CLONE_FS); err != nil {
			return
		}
		if err = unix.Chdir(dir); err == nil {
			l, err = net.Listen("unix", path)
		}
	}()
	<-done
	return l, err
}

func (o *outside) accept(t *testing.T, l net.Listener) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			o.came.Add(1)
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
}

func (o *outside) receive(t *testing.T, packets net.PacketConn) {
	t.Cleanup(func() { packets.Close() })
	go func() {
		b := make([]byte, 4<<10)
		for {
			if _, _, err := packets.ReadFrom(b); err != nil {
				return
			}
			o.came.Add(1)
		}
	}()
}

// vsock listens between virtual machines, where the machine can do that with itself.
func (o *outside) vsock(t *testing.T) uint32 {
	t.Helper()
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Logf("vsock: no listener on this machine: %v", err)
		return 0
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_LOCAL, Port: unix.VMADDR_PORT_ANY}); err != nil {
		t.Logf("vsock: no listener on this machine: %v", err)
		return 0
	}
	at, err := unix.Getsockname(fd)
	if err != nil || unix.Listen(fd, 8) != nil {
		t.Logf("vsock: no listener on this machine: %v", err)
		return 0
	}
	go func() {
		for {
			conn, _, err := unix.Accept(fd)
			if err != nil {
				return
			}
			o.came.Add(1)
			unix.Close(conn)
		}
	}()
	return at.(*unix.SockaddrVM).Port
}

// TestEscape_Network is what a hostile program in a sandbox tries to get around the proxy, by each
// kind of socket, against live listeners outside that count who comes. A user approved it, with the
// network as the sandbox gives it. The same program outside shows that the listeners are alive.
func TestEscape_Network(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"bubblewrap", "namespaces", "landlock", "none"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			const cmd = "./probe " + probeArg + " targets.json"
			w := startConfined(t, level, "", map[string]string{"go": cmd}, map[string]string{"probe": string(program)})
			around := listenAround(t, w.project, w.home)
			text, err := json.Marshal(around.targets)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.project, "targets.json"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			if level == "none" {
				direct := exec.Command(filepath.Join(w.project, "probe"), probeArg, "targets.json")
				direct.Dir = w.project
				out, err := direct.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				least := int64(2*len(around.TCP) + 3*len(around.UDP) + len(around.Sockets) + len(around.Packets))
				for until := time.Now().Add(upWait); around.came.Load() < least; time.Sleep(lookAgain) { // the listeners count after the program
					if time.Now().After(until) {
						t.Fatalf("outside of a sandbox %d came, want at least %d:\n%s", around.came.Load(), least, out)
					}
				}
				return
			}
			said := w.run(t, "go")
			if strings.Contains(said, "no network namespaces") {
				testreq.Skip(t, said)
			}
			time.Sleep(100 * time.Millisecond) // datagrams take a moment
			if n := around.came.Load(); n > 0 {
				t.Errorf("%d came", n)
			}
			tried := 0
			for line := range strings.Lines(said) {
				name, got, is := strings.Cut(strings.TrimSpace(line), ": ")
				switch {
				case !is:
				case strings.HasPrefix(got, "closed: "):
					tried++
				case got == open:
					tried++
					if !strings.Contains(seenUnder[level], name) {
						t.Errorf("%s is open", name)
					}
				}
			}
			if least := len(ways(around.targets)); tried < least {
				t.Errorf("%d ways were tried, want %d:\n%s", tried, least, said)
			}
		})
	}
}

// seenUnder is what a program may see under a sandbox, through which nothing comes or goes.
var seenUnder = map[string]string{"landlock": "connections of the machine, connections of other processes"}
