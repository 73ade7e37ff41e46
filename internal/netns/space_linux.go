package netns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrRefused is the error of a Dial to a port on which nothing listens.
var ErrRefused = errors.New("nothing listens on the port inside")

// answerLimit bounds how long the holder may take for one answer.
const answerLimit = 10 * time.Second

// Space is a network namespace. It is safe for concurrent use.
type Space struct {
	enter  []string
	holder *exec.Cmd
	errs   strings.Builder

	mu   sync.Mutex // one request at a time
	conn *net.UnixConn
}

// Start makes a namespace. self is our own binary, whose main calls [Hold]. The error says
// what of this machine is in the way.
func Start(self string) (*Space, error) {
	joiner, err := findJoiner()
	if err != nil {
		return nil, err
	}
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	s := &Space{conn: conn}
	s.holder = &exec.Cmd{
		Path: self, Args: []string{self, HoldArg}, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{theirs}, Stderr: &s.errs,
		SysProcAttr: &syscall.SysProcAttr{
			Setsid:     true,
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			// Only root keeps its rights over the namespace through the start of a program.
			AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
			// As who we are, so that files keep their owner.
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		},
	}
	err = s.holder.Start()
	theirs.Close() // else the end of a holder would not be seen
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("netns: make a namespace: %w", err)
	}
	s.enter = joiner.argv(s.holder.Process.Pid)
	// The first listener shows that the namespace works.
	l, err := s.Listen()
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		s.Close()
		if said := strings.TrimSpace(s.errs.String()); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	return s, nil
}

// Enter is what to put before a program's absolute path and arguments so that it starts
// inside. The program keeps its parent, its user and its descriptors.
func (s *Space) Enter() []string { return s.enter }

// Listen returns a listener on a port of the loopback address inside. The agent accepts its
// connections, and closes it.
func (s *Space) Listen() (net.Listener, error) {
	f, err := s.ask(request{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// Dial connects to a server that listens on the loopback address inside. The error is
// ErrRefused when there is none.
func (s *Space) Dial(port int) (net.Conn, error) {
	f, err := s.ask(request{Dial: port})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileConn(f)
}

// Close ends the holder. What is inside goes on until it ends by itself. It returns when
// the holder is gone.
func (s *Space) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return
	}
	s.conn.Close()
	s.conn = nil
	_ = s.holder.Process.Kill() // it holds nothing that has to be put away
	_ = s.holder.Wait()
}

// ask sends one request and returns the descriptor of the answer.
func (s *Space) ask(r request) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil, fmt.Errorf("netns: %w", net.ErrClosed)
	}
	_ = s.conn.SetDeadline(time.Now().Add(answerLimit))
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err := s.conn.Write(line); err != nil {
		return nil, fmt.Errorf("netns: ask the holder: %w", err)
	}
	a, f, err := receive(s.conn)
	switch {
	case err != nil:
		return nil, fmt.Errorf("netns: the holder's answer: %w", err)
	case a.Refused:
		return nil, ErrRefused
	case a.Error != "":
		return nil, fmt.Errorf("netns: %s", a.Error)
	case f == nil:
		return nil, errors.New("netns: the holder's answer has no descriptor")
	}
	return f, nil
}

// receive reads one answer.
func receive(conn *net.UnixConn) (a answer, f *os.File, err error) {
	line, control := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4))
	n, controls, _, _, err := conn.ReadMsgUnix(line, control)
	if err != nil {
		return a, nil, err
	}
	if n == 0 {
		return a, nil, io.ErrUnexpectedEOF
	}
	if controls > 0 {
		if f, err = descriptor(control[:controls]); err != nil {
			return a, nil, err
		}
	}
	if err := json.Unmarshal(line[:n], &a); err != nil {
		if f != nil {
			f.Close()
		}
		return a, nil, err
	}
	return a, f, nil
}

// descriptor takes the file out of a control message.
func descriptor(control []byte) (*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, errors.New("unexpected control messages"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(err, errors.New("unexpected descriptors"))
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "netns"), nil
}

// socketPair makes the socket between the agent and its holder. Each message on it is
// whole.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("netns: make a socket: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "holder")
	our := os.NewFile(uintptr(fds[0]), "agent")
	defer our.Close()
	conn, err := net.FileConn(our)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("netns: make a socket: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}
