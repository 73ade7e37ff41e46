package launch

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// servesOn: a helper gets the streams of a command with its spec, so it can have one command after the other.
const servesOn = true

// maxStreams is the most streams that a command has.
const maxStreams = 3

// control makes the channel to a helper: a socket, over which descriptors can be passed.
func (p *plumbing) control() *os.File {
	if p.err != nil {
		return nil
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		p.err = fmt.Errorf("socketpair: %w", err)
		return nil
	}
	_ = unix.SetNonblock(fds[0], true) // else the poller does not have it, and a write cannot be ended
	ours := os.NewFile(uintptr(fds[0]), "control")
	p.ours, p.theirs = append(p.ours, ours), append(p.theirs, os.NewFile(uintptr(fds[1]), "control"))
	return ours
}

// inherit has nothing to do: the streams come with the spec.
func (p *plumbing) inherit(*helperProcess, wiring) {}

// send sends an encoded spec, and the command's streams with its first bytes.
func (h *helperProcess) send(line []byte, streams []*os.File) error {
	raw, err := h.control.SyscallConn()
	if err != nil {
		return err
	}
	fds := make([]int, len(streams))
	for i, f := range streams {
		fds[i] = int(f.Fd())
	}
	sent := 0
	werr := raw.Write(func(fd uintptr) bool {
		for {
			sent, err = unix.SendmsgN(int(fd), line, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	if err := errors.Join(werr, err); err != nil {
		return fmt.Errorf("sendmsg: %w", err)
	}
	_, err = h.control.Write(line[sent:])
	return err
}

// controlReader reads what the agent sends, and keeps the streams that come with it.
type controlReader struct {
	socket  int
	streams []*os.File
}

func newControlReader() *controlReader { return &controlReader{socket: unix.Stdin} }

func (r *controlReader) Read(b []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4*maxStreams))
	for {
		n, got, flags, _, err := unix.Recvmsg(r.socket, b, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
		case err == unix.ENOTSOCK: // of an agent of an earlier version, which decodeSpec tells it
			return os.Stdin.Read(b)
		case err != nil:
			return 0, fmt.Errorf("recvmsg: %w", err)
		case flags&unix.MSG_CTRUNC != 0:
			return 0, errors.New("launch: not all streams of a command arrived")
		case n == 0:
			return 0, io.EOF
		default:
			return n, r.keep(oob[:got])
		}
	}
}

func (r *controlReader) keep(oob []byte) error {
	messages, err := unix.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, rerr := unix.ParseUnixRights(&m)
		err = errors.Join(err, rerr)
		for _, fd := range fds {
			r.streams = append(r.streams, os.NewFile(uintptr(fd), "stream"))
		}
	}
	if err != nil {
		return fmt.Errorf("launch: streams of a command: %w", err)
	}
	return nil
}

// take returns the streams that came since the last time.
func (r *controlReader) take() []*os.File {
	taken := r.streams
	r.streams = nil
	return taken
}

// stdio finds the command's streams among the ones that came with its spec.
func (c channels) stdio(streams []*os.File) (stdio, error) {
	at := func(place uintptr) *os.File {
		if place == 0 {
			return nil
		}
		return streams[place]
	}
	if len(streams) == 0 || max(c.Stdin, c.Stderr) >= uintptr(len(streams)) {
		return stdio{}, errors.New("launch: a command came without its streams")
	}
	return stdio{in: at(c.Stdin), out: streams[0], err: at(c.Stderr)}, nil
}
