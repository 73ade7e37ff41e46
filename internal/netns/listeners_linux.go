package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Listeners lists the TCP sockets that listen inside, including those of the agent.
func (s *Space) Listeners() ([]Listener, error) {
	f, err := s.open(socketTable)
	if err != nil {
		return nil, err
	}
	return listListeners(f)
}

// Listeners lists the TCP sockets that listen in the agent's own network. It asks the kernel for these
// alone, because the files in /proc list each connection of the machine.
func Listeners() ([]Listener, error) {
	f, err := openTable()
	if err != nil {
		return nil, err
	}
	return listListeners(f)
}

// openTable opens a socket on which the kernel lists the sockets of the network of this process.
func openTable() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("ask the kernel for sockets: %w", err)
	}
	return os.NewFile(uintptr(fd), "sockets"), nil
}

// listListeners asks for the listeners on a socket of openTable, and closes it.
func listListeners(table *os.File) (list []Listener, err error) {
	defer table.Close()
	for _, family := range [...]byte{unix.AF_INET, unix.AF_INET6} {
		if list, err = appendListeners(int(table.Fd()), family, list); err != nil {
			return nil, fmt.Errorf("netns: ask the kernel for sockets: %w", err)
		}
	}
	return list, nil
}

// The layout of the kernel's messages (linux/sock_diag.h, linux/inet_diag.h), in bytes.
const (
	sockDiagByFamily = 20
	diagRequestSize  = 56      // struct inet_diag_req_v2
	tcpListen        = 1 << 10 // the bit of TCP_LISTEN in a set of states
	portAt           = 4       // in struct inet_diag_msg, in network byte order
	inodeAt          = 68
	diagAnswerSize   = 72
)

// appendListeners appends the listeners of a family of addresses.
func appendListeners(fd int, family byte, list []Listener) ([]Listener, error) {
	ask := make([]byte, unix.SizeofNlMsghdr+diagRequestSize)
	order := binary.NativeEndian
	order.PutUint32(ask[0:], uint32(len(ask)))
	order.PutUint16(ask[4:], sockDiagByFamily)
	order.PutUint16(ask[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := ask[unix.SizeofNlMsghdr:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	order.PutUint32(body[4:], tcpListen)
	if err := unix.Sendto(fd, ask, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	answer := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, answer, 0)
		if err != nil {
			return nil, err
		}
		last, err := readListeners(answer[:n], &list)
		if last || err != nil {
			return list, err
		}
	}
}

// readListeners appends the listeners of one answer; last says that no answer follows.
func readListeners(answer []byte, list *[]Listener) (last bool, err error) {
	order := binary.NativeEndian
	for len(answer) > 0 {
		if len(answer) < unix.SizeofNlMsghdr {
			return true, errShort
		}
		size, kind := int(order.Uint32(answer)), order.Uint16(answer[4:])
		if size < unix.SizeofNlMsghdr || size > len(answer) {
			return true, errShort
		}
		body := answer[unix.SizeofNlMsghdr:size]
		switch {
		case kind == unix.NLMSG_DONE:
			return true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return true, unix.Errno(-int32(order.Uint32(body)))
		case kind == sockDiagByFamily && len(body) >= diagAnswerSize && len(*list) < maxListeners:
			*list = append(*list, Listener{
				Inode: uint64(order.Uint32(body[inodeAt:])),
				Port:  int(binary.BigEndian.Uint16(body[portAt:])),
			})
		}
		answer = answer[min(len(answer), (size+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1)):]
	}
	return false, nil
}

var errShort = errors.New("the kernel's answer is cut short")
