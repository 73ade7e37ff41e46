package netns

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrRefused is the error of a Dial to a port on which nothing listens.
var ErrRefused = errors.New("nothing listens on the port inside")

// dialLimit bounds how long one attempt to connect may take; there is one for each version of IP. The kernel
// connects at once, unless the queue of connections that the server has not accepted yet is full.
const dialLimit = 2 * time.Second

// Dial connects to a server that listens on the loopback address inside. The error is
// ErrRefused when there is none, and the cause of ctx when that ends.
func (s *Space) Dial(ctx context.Context, port int) (net.Conn, error) {
	v4 := &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	conn, err4 := s.dial(ctx, socketIPv4, v4)
	if err4 == nil || ctx.Err() != nil {
		return conn, err4
	}
	v6 := &unix.SockaddrInet6{Port: port}
	copy(v6.Addr[:], net.IPv6loopback)
	conn, err6 := s.dial(ctx, socketIPv6, v6)
	if err6 == nil || ctx.Err() != nil {
		return conn, err6
	}
	err := errors.Join(err4, err6)
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil, ErrRefused
	}
	return nil, err
}

// dial asks the holder for a socket, and connects it here: the holder must not wait for a server.
func (s *Space) dial(ctx context.Context, kind descriptorKind, to unix.Sockaddr) (net.Conn, error) {
	f, err := s.open(kind)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.SetWriteDeadline(time.Now().Add(dialLimit)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Now()) }) // fails only once f is closed
	defer stop()
	if err := connect(f, to); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return net.FileConn(f)
}

// connect connects a non-blocking socket, and waits until its write deadline without holding a thread.
func connect(f *os.File, to unix.Sockaddr) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	started := false
	var failed error
	err = raw.Write(func(fd uintptr) (done bool) {
		if !started {
			started = true
			failed = unix.Connect(int(fd), to)
			return !errors.Is(failed, unix.EINPROGRESS)
		}
		code, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if failed = err; err == nil && code != 0 {
			failed = unix.Errno(code)
		}
		if failed != nil {
			return true
		}
		_, err = unix.Getpeername(int(fd))
		return !errors.Is(err, unix.ENOTCONN) // not connected: a spurious wake-up
	})
	if err != nil {
		return err
	}
	return failed
}
