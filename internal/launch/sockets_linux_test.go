package launch

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func inodeOf(l net.Listener) (inode uint64, err error) {
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return 0, err
	}
	var stat syscall.Stat_t
	_ = raw.Control(func(fd uintptr) { err = syscall.Fstat(int(fd), &stat) })
	return stat.Ino, err
}

// onlySocket is the inode of the one socket of a process.
func onlySocket(t *testing.T, pid int) (inode uint64) {
	t.Helper()
	at := socketsOf([]int{pid})
	if len(at) != 1 {
		t.Fatalf("process %d has the sockets %v", pid, at)
	}
	for inode = range at {
	}
	return inode
}

// The sockets of a command are those of all its processes, also of one that left its session, and
// of no other process.
func TestProcess_Sockets(t *testing.T) {
	t.Parallel()
	foreign, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	other, err := inodeOf(foreign)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := newOutput()
	p := start(t, spec(t, fmt.Sprintf("%[1]s %[2]s & (setsid %[1]s %[2]s &); wait; sleep 60", self, listenArg)), out)
	var pids [2]int
	var ports [2]int
	eventually(t, "both listen", func() bool {
		n, _ := fmt.Sscan(out.String(), &pids[0], &ports[0], &pids[1], &ports[1])
		return n == 4
	})
	inodes := [2]uint64{onlySocket(t, pids[0]), onlySocket(t, pids[1])}
	for _, look := range []struct {
		name string
		at   map[uint64]bool
	}{{"by the children", p.Sockets()}, {"by the table", socketsOf(descendants(p.helperPID(), 0))}} {
		if !look.at[inodes[0]] || !look.at[inodes[1]] || look.at[other] {
			t.Errorf("%s: %v of %v, and not %d", look.name, look.at, inodes, other)
		}
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one is closed", func() bool { at := p.Sockets(); return !at[inodes[0]] && at[inodes[1]] })
	p.Stop(0)
	<-p.Done()
	if got := p.Sockets(); got != nil {
		t.Errorf("after its end it has %v", got)
	}
}

// TestProcess_SocketsBounded: of a command that opens more than is looked at, a part is.
func TestProcess_SocketsBounded(t *testing.T) {
	t.Parallel()
	if names := namesIn("/proc", 3); len(names) != 3 {
		t.Errorf("%d names", len(names))
	}
	if names := namesIn("/proc", 0); names != nil {
		t.Errorf("none wanted: %v", names)
	}
	if names := namesIn("/proc/0", 3); names != nil {
		t.Errorf("of nothing: %v", names)
	}
	self := strconv.Itoa(os.Getpid())
	if strings.Contains(fmt.Sprint(below(os.Getpid())), self+" ") {
		t.Error("a process is below itself")
	}
}

// BenchmarkSockets is what it costs to look at the sockets of a command.
func BenchmarkSockets(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	out := newOutput()
	p := start(b, spec(b, self+" "+listenArg), out)
	<-out.wrote
	for b.Loop() {
		p.Sockets()
	}
}
