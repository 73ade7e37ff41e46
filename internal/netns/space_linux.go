package netns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"acp-agent/internal/textcut"

	"golang.org/x/sys/unix"
)

const (
	// answerLimit bounds how long the holder may take for one answer.
	answerLimit = 10 * time.Second
	// endLimit bounds how long the holder has to end by itself.
	endLimit = 2 * time.Second
	// stderrBytes bounds what is kept of the end of the holder's error output.
	stderrBytes = 4 << 10
)

// Space is a network namespace. It is safe for concurrent use.
type Space struct {
	enter  []string // see Enter
	holder *exec.Cmd
	stderr *textcut.Tail // of the holder

	mu   sync.Mutex    // held during a request: there is one at a time
	conn *net.UnixConn // to the holder; nil once closed
}

// Start makes a namespace. self is the absolute path of a binary whose main calls [Hold] when [HoldArg] is its
// first argument. other are a program of the system and arguments that start the program after them in
// new user and network namespaces, with the loopback device up; it is for a system that lets only the programs
// that it knows make such namespaces, and may be empty. The error says what on this machine prevents it.
func Start(self string, other []string) (*Space, error) {
	joiner, err := findJoiner()
	if err != nil {
		return nil, err
	}
	s, err := startHolder(joiner, []string{self, HoldArg})
	if err == nil || len(other) == 0 {
		return s, err
	}
	s, otherErr := startHolder(joiner, slices.Concat(other, []string{self, HoldArg, insideArg}))
	if otherErr != nil {
		return nil, fmt.Errorf("%w; by %s: %w", err, other[0], otherErr)
	}
	return s, nil
}

// startHolder makes a namespace by its holder, a program with arguments.
func startHolder(joiner joiner, holder []string) (*Space, error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	s := &Space{conn: conn, stderr: textcut.NewTail(stderrBytes)}
	s.holder = &exec.Cmd{
		Path: holder[0], Args: holder, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{theirs}, Stderr: s.stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = s.holder.Start()
	theirs.Close() // else the end of the holder would not be seen
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("netns: make a namespace: %w", err)
	}
	// The first listener shows that the namespace works.
	f, pid, err := s.request(listener)
	if err == nil {
		s.enter = joiner.argv(pid)
		err = f.Close()
	}
	if err != nil {
		s.Close()
		if stderr := strings.TrimSpace(s.stderr.String()); stderr != "" {
			err = fmt.Errorf("%w: %s", err, stderr)
		}
		return nil, err
	}
	return s, nil
}

// Enter returns the arguments to put before a program's absolute path and its arguments so that the
// program starts inside. It keeps its parent, its user and its descriptors.
func (s *Space) Enter() []string { return s.enter }

// Listen returns a listener on a free port of the loopback address inside. The caller accepts its
// connections, and closes it.
func (s *Space) Listen() (net.Listener, error) {
	f, err := s.open(listener)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return net.FileListener(f)
}

// Close ends the holder and returns when it is gone. Processes inside keep running.
func (s *Space) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return
	}
	s.conn.Close()
	s.conn = nil
	kill := time.AfterFunc(endLimit, func() { _ = s.holder.Process.Kill() }) // fails only if it has ended
	defer kill.Stop()
	_ = s.holder.Wait()
}

// open asks the holder for a descriptor.
func (s *Space) open(kind descriptorKind) (*os.File, error) {
	f, _, err := s.request(kind)
	return f, err
}

// request is open that also returns the process inside.
func (s *Space) request(kind descriptorKind) (f *os.File, pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil, 0, fmt.Errorf("netns: %w", net.ErrClosed)
	}
	_ = s.conn.SetDeadline(time.Now().Add(answerLimit))
	message, err := json.Marshal(request{Open: kind})
	if err != nil {
		return nil, 0, err
	}
	if _, err := s.conn.Write(message); err != nil {
		return nil, 0, fmt.Errorf("netns: ask the holder: %w", err)
	}
	a, f, err := receive(s.conn)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("netns: the holder's answer: %w", err)
	case a.Error != "":
		return nil, 0, fmt.Errorf("netns: %s", a.Error)
	case f == nil:
		return nil, 0, errors.New("netns: the holder's answer has no descriptor")
	}
	return f, a.PID, nil
}

// receive reads one answer.
func receive(conn *net.UnixConn) (a answer, f *os.File, err error) {
	message, control := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4))
	n, controls, _, _, err := conn.ReadMsgUnix(message, control)
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
	if err := json.Unmarshal(message[:n], &a); err != nil {
		if f != nil {
			f.Close()
		}
		return a, nil, err
	}
	return a, f, nil
}

// descriptor returns the file that a control message carries.
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
	if err := unix.SetNonblock(fds[0], true); err != nil { // a wait for it must not hold a thread
		unix.Close(fds[0])
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "netns"), nil
}

// socketPair makes the socket between the agent and its holder. It keeps the bounds of messages.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("netns: make a socket: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "holder")
	file := os.NewFile(uintptr(fds[0]), "agent")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("netns: make a socket: %w", err)
	}
	return conn.(*net.UnixConn), theirs, nil
}
