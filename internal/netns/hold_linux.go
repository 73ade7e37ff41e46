package netns

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Hold is the main of the process that holds a namespace. It serves the agent over an
// inherited socket until that ends.
func Hold() int {
	if err := hold(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func hold() error {
	const inherited = 3
	file := os.NewFile(inherited, "agent")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return fmt.Errorf("%s is started by the agent itself, not by hand", HoldArg)
	}
	agent, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%s is started by the agent itself, not by hand", HoldArg)
	}
	if err := bringUpLoopback(); err != nil {
		return fmt.Errorf("start the loopback device: %w", err)
	}
	line := make([]byte, 4<<10)
	for {
		n, err := agent.Read(line)
		if err != nil || n == 0 {
			return nil // the agent has ended
		}
		if err := serve(agent, line[:n]); err != nil {
			return err
		}
	}
}

// serve answers one request.
func serve(agent *net.UnixConn, line []byte) error {
	var r request
	var a answer
	var rights []byte
	err := json.Unmarshal(line, &r)
	if err == nil {
		var f *os.File
		if f, err = open(r); err == nil {
			defer f.Close()
			rights = unix.UnixRights(int(f.Fd()))
		}
	}
	if err != nil {
		a = answer{Error: err.Error(), Refused: errors.Is(err, unix.ECONNREFUSED)}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, _, err = agent.WriteMsgUnix(text, rights, nil)
	return err
}

// open makes what a request asks for, and returns a descriptor of it.
func open(r request) (*os.File, error) {
	if r.Dial == 0 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		return l.(*net.TCPListener).File()
	}
	dialer := net.Dialer{Timeout: answerLimit / 2}
	var failed error
	for _, host := range [...]string{"127.0.0.1", "::1"} {
		conn, err := dialer.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(r.Dial)))
		if err == nil {
			defer conn.Close()
			return conn.(*net.TCPConn).File()
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// bringUpLoopback starts the only device there is.
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
	device.SetUint16(device.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, device)
}
