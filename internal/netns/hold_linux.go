package netns

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Hold is the main of both processes that hold a namespace. The outer one makes the namespace with the
// inner one in it, which serves the agent over an inherited socket until the agent closes it.
//
// The agent cannot make the namespace. Its memory is closed to other processes of its user, and so is that
// of a child until the child starts a program: an ordinary user may not map the users of a namespace of such a child.
// Where another program makes the namespace (see [Start]), it stands in the place of the outer process.
func Hold() int {
	work := holdOutside
	if len(os.Args) > 2 && os.Args[2] == insideArg {
		work = holdInside
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const (
	// insideArg is the second argument of the inner process.
	insideArg = "inside"
	// inherited is the descriptor of the socket to the agent.
	inherited = 3
)

// holdOutside starts the inner process, and waits for its end.
func holdOutside() error {
	runtime.LockOSThread() // the inner process ends with the thread that started it
	socket := os.NewFile(inherited, "agent")
	inside := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{os.Args[0], HoldArg, insideArg}, Env: []string{}, Dir: "/",
		ExtraFiles: []*os.File{socket}, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			Pdeathsig:  syscall.SIGKILL,
			// Only root keeps its rights over the namespace through the start of a program.
			AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
			// The user stays the same inside, so that files keep their owner.
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		},
	}
	err := inside.Start()
	socket.Close() // else the end of the inner process would not be seen
	if err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	return inside.Wait()
}

// holdInside answers the agent's requests until the agent closes the socket.
func holdInside() error {
	file := os.NewFile(inherited, "agent")
	conn, err := net.FileConn(file)
	file.Close()
	agent, ok := conn.(*net.UnixConn)
	if err != nil || !ok {
		return fmt.Errorf("%s is started by the agent itself, not by hand", HoldArg)
	}
	if err := bringUpLoopback(); err != nil {
		return fmt.Errorf("start the loopback device: %w", err)
	}
	message := make([]byte, 4<<10)
	for {
		n, err := agent.Read(message)
		if err != nil || n == 0 {
			return nil // the agent has ended
		}
		if err := serve(agent, message[:n]); err != nil {
			return err
		}
	}
}

// serve answers one request.
func serve(agent *net.UnixConn, message []byte) error {
	var r request
	a := answer{PID: os.Getpid()}
	var rights []byte
	err := json.Unmarshal(message, &r)
	if err == nil {
		var f *os.File
		if f, err = open(r.Open); err == nil {
			defer f.Close()
			rights = unix.UnixRights(int(f.Fd()))
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, _, err = agent.WriteMsgUnix(text, rights, nil)
	return err
}

// open makes the descriptor that a request asks for. It waits for no process inside.
func open(kind descriptorKind) (*os.File, error) {
	switch kind {
	case listener:
		return openListener()
	case socketIPv4:
		return openSocket(unix.AF_INET)
	case socketIPv6:
		return openSocket(unix.AF_INET6)
	case socketTable:
		return openTable()
	}
	return nil, fmt.Errorf("the holder cannot open a %q", kind)
}

func openListener() (*os.File, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.(*net.TCPListener).File()
}

func openSocket(family int) (*os.File, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	return os.NewFile(uintptr(fd), "socket"), nil
}

// bringUpLoopback starts the loopback device, the only one inside.
func bringUpLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, device); err != nil {
		return err
	}
	if device.Uint16()&unix.IFF_UP != 0 {
		return nil // by the program that made the namespace
	}
	device.SetUint16(device.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, device)
}
