package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeArg is the first argument that makes the test binary try each way out of a sandbox; the
// second is the file of the targets.
const probeArg = "probe-ways-out"

// targets are live listeners outside the sandbox, by their kinds: addresses, paths, names.
type targets struct {
	TCP, UDP []string // IPv4, IPv6 and, where there is one, an address that is not loopback
	Sockets  []string // of streams: in the home, in the project, in /tmp, and one without a path
	Packets  []string // of datagrams: in the home and without a path
	VSock    uint32   // the port; 0 where the machine has none
}

// way is one way out. It returns an error when that way is closed, and says what it got when the way
// is open but no listener sees it.
type way struct {
	name string
	try  func() (got string, err error)
}

// probe tries all ways, and prints a line for each.
func probe(file string) int {
	var at targets
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, w := range ways(at) {
		got, err := w.try()
		if err != nil {
			got = "closed: " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		fmt.Printf("%s: %s\n", w.name, got)
	}
	return 0
}

const open = "OPEN"

// reach is a way that is open when a connection is made and what is sent on it is not refused.
func reach(name, network, address, send string) way {
	return way{name, func() (string, error) {
		conn, err := net.DialTimeout(network, address, time.Second)
		if err != nil {
			return "", err
		}
		defer conn.Close()
		for range 2 { // that no one is there is told of a datagram when the next one is sent
			if _, err := conn.Write([]byte(send)); err != nil {
				return "", err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return open, nil
	}}
}

func ways(at targets) []way {
	var all []way
	for _, address := range at.TCP {
		all = append(all, reach("TCP to "+address, "tcp", address, "x"),
			way{"TCP fast open to " + address, func() (string, error) { return fastOpen(address) }},
			way{"DNS over TCP to " + address, func() (string, error) { return lookUp("tcp", address) }})
	}
	for _, address := range at.UDP {
		all = append(all, reach("UDP to "+address, "udp", address, "x"),
			reach("QUIC to "+address, "udp", address, "\xc0\x00\x00\x00\x01\x08"+strings.Repeat("\x00", 1200)),
			way{"DNS over UDP to " + address, func() (string, error) { return lookUp("udp", address) }})
	}
	for _, path := range at.Sockets {
		all = append(all, reach("local socket "+path, "unix", path, "x"))
	}
	for _, path := range at.Packets {
		all = append(all, reach("local datagram "+path, "unixgram", path, "x"))
	}
	for _, family := range []struct {
		name             string
		family, kind, is int
	}{
		{"raw socket", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		{"raw IPv6 socket", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6},
		{"socket for pings", unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP},
		{"raw socket of packets", unix.AF_PACKET, unix.SOCK_RAW, 0},
		{"socket of packets", unix.AF_PACKET, unix.SOCK_DGRAM, 0},
		{"vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		{"vsock of datagrams", unix.AF_VSOCK, unix.SOCK_DGRAM, 0},
		{"XDP", unix.AF_XDP, unix.SOCK_RAW, 0},
		{"kernel cryptography", unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		{"IPsec keys", unix.AF_KEY, unix.SOCK_RAW, 2},
		{"Bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 1},
		{"TIPC", unix.AF_TIPC, unix.SOCK_SEQPACKET, 0},
		{"RDS", unix.AF_RDS, unix.SOCK_SEQPACKET, 0},
		{"CAN", unix.AF_CAN, unix.SOCK_RAW, 1},
		{"IPC router", unix.AF_QIPCRTR, unix.SOCK_DGRAM, 0},
		{"audit messages", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT},
		{"firewall messages", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER},
	} {
		all = append(all, way{family.name, func() (string, error) {
			fd, err := unix.Socket(family.family, family.kind, family.is)
			if err != nil {
				return "", err
			}
			defer unix.Close(fd)
			if family.family == unix.AF_NETLINK {
				return "", changeDevice(fd)
			}
			return open, nil
		}})
	}
	return append(all,
		way{"vsock connection", func() (string, error) { return vsock(at.VSock) }},
		way{"devices", devices},
		way{"an address more", func() (string, error) {
			fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
			if err != nil {
				return "", err
			}
			defer unix.Close(fd)
			return open, changeDevice(fd)
		}},
		way{"connections of the machine", func() (string, error) { return listed("/proc/net/tcp", at.TCP[0]) }},
		way{"connections of other processes", func() (string, error) { return othersFiles("net/tcp", at.TCP[0]) }},
		way{"the network of other processes", func() (string, error) { return others("ns/net", joinNetwork) }},
		way{"descriptors of other processes", func() (string, error) { return others("fd", sockets) }},
		way{"inherited descriptors", func() (string, error) { return sockets("/proc/self/fd") }},
		way{"a network of its own", func() (string, error) { return open, unix.Unshare(unix.CLONE_NEWNET) }},
		way{"a user of its own", func() (string, error) { return open, unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNET) }},
		way{"io_uring", func() (string, error) {
			var params [120]byte
			_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])), 0)
			if errno != 0 {
				return "", errno
			}
			return open, nil
		}},
	)
}

// fastOpen sends with the first packet of a connection, without a call of connect.
func fastOpen(address string) (string, error) {
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return "", err
	}
	family, sockaddr := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: to.Port, Addr: [16]byte(to.IP.To16())})
	if ip := to.IP.To4(); ip != nil {
		family, sockaddr = unix.AF_INET, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(ip)}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return open, unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, sockaddr)
}

// lookUp asks a server of names.
func lookUp(network, server string) (string, error) {
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a refusal comes at once, but this program may have to wait for a core
	defer cancel()
	_, err := resolver.LookupHost(ctx, "secret.example")
	if lookup, ok := errors.AsType[*net.DNSError](err); ok && lookup.IsTimeout {
		return open, nil // the listener does not answer
	}
	return open, err
}

func vsock(port uint32) (string, error) {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return open, unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_LOCAL, Port: port})
}

// devices are those of the network other than the loopback device.
func devices() (string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	for _, device := range all {
		if device.Name != "lo" {
			return open, nil
		}
	}
	return "", errors.New("the loopback device alone")
}

// changeDevice asks the kernel to give the loopback device an address, and returns its answer.
func changeDevice(fd int) error {
	ip := []byte{8, 0, unix.IFA_LOCAL, 0, 127, 9, 9, 9}
	var b bytes.Buffer
	size := uint32(unix.SizeofNlMsghdr + unix.SizeofIfAddrmsg + len(ip))
	_ = binary.Write(&b, binary.NativeEndian, unix.NlMsghdr{Len: size, Type: unix.RTM_NEWADDR, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE})
	_ = binary.Write(&b, binary.NativeEndian, unix.IfAddrmsg{Family: unix.AF_INET, Prefixlen: 8, Index: 1})
	b.Write(ip)
	if err := unix.Sendto(fd, b.Bytes(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	answer := make([]byte, 4<<10)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	const at = unix.SizeofNlMsghdr
	if err != nil || n < at+4 {
		return errors.Join(err, errors.New("no answer"))
	}
	if code := int32(binary.NativeEndian.Uint32(answer[at:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// listed looks for the port of an address in a table of connections.
func listed(table, address string) (string, error) {
	text, err := os.ReadFile(table)
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(address)
	number, err := strconv.Atoi(port)
	if err != nil {
		return "", err
	}
	if strings.Contains(string(text), fmt.Sprintf(":%04X 00000000:0000 0A", number)) {
		return open, nil
	}
	return "", errors.New("not listed")
}

func othersFiles(name, address string) (string, error) {
	return others(name, func(path string) (string, error) { return listed(path, address) })
}

// others tries a file of each process that is not of this command.
func others(name string, try func(path string) (string, error)) (string, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	own, _ := os.Readlink("/proc/self/ns/pid")
	var failed error
	for _, dir := range dirs {
		if session, _ := unix.Getsid(0); dir == "/proc/self" || processSession(dir) == session && own != "" {
			continue
		}
		got, err := try(filepath.Join(dir, name))
		if err == nil {
			return got, nil
		}
		failed = err
	}
	if failed == nil {
		failed = errors.New("there are no other processes")
	}
	return "", failed
}

// processSession is the session of a process, 0 where it cannot be told.
func processSession(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	session, _ := strconv.Atoi(fields[3])
	return session
}

func joinNetwork(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return open, unix.Setns(fd, unix.CLONE_NEWNET)
}

// sockets looks for sockets among the descriptors of a process.
func sockets(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if to, _ := os.Readlink(filepath.Join(dir, entry.Name())); strings.HasPrefix(to, "socket:") {
			return open, nil
		}
	}
	return "", errors.New("no sockets")
}
