package nsfork

import (
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Script is a list of system calls for a process that was just forked. The zero value is an empty
// one. An error of a method is kept, and returned by [Start].
type Script struct {
	calls []call
	whats []string // of each call, for its error
	keep  []any    // what the arguments point at
	used  int      // registers
	err   error
}

// register is where a call leaves the descriptor that it made, for later calls. The zero value is
// none.
type register uint8

// registers bounds the descriptors that a script has at the same time.
const registers = 32

// call is one system call. It is copied to a child by the fork and read there without the runtime.
type call struct {
	nr   uintptr
	args [6]uintptr
	from [6]register // where an argument comes from, if not from args
	into register
	// want is a result that is no failure; 0 is any.
	want uintptr
	// passes is an error that does not end the child.
	passes unix.Errno
}

// errRegisters cannot happen: descriptors are closed by the method that opens them.
var errRegisters = fmt.Errorf("nsfork: a script has more than %d descriptors at a time", registers-1)

func (s *Script) register() register {
	if s.used++; s.used >= registers {
		s.err = errRegisters
		return 0
	}
	return register(s.used)
}

func (s *Script) add(what string, c call) {
	s.calls = append(s.calls, c)
	s.whats = append(s.whats, what)
}

// text keeps a text for the calls, and returns where it is.
func (s *Script) text(text string) uintptr {
	b, err := unix.BytePtrFromString(text)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("nsfork: %q: %w", text, err)
	}
	return s.pointer(unsafe.Pointer(b))
}

// pointer keeps memory for the calls. It is not moved: it is on the heap, and kept there.
func (s *Script) pointer(p unsafe.Pointer) uintptr {
	s.keep = append(s.keep, p)
	return uintptr(p)
}

const atCWD = ^uintptr(99) // AT_FDCWD, -100

// open has the next call's register hold a place on the disk, which is reached without following a
// link: what builds a view must not be led elsewhere by what changes meanwhile.
func (s *Script) open(path string) register {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	r := s.register()
	s.add("open "+path, call{
		nr: unix.SYS_OPENAT2, args: [6]uintptr{atCWD, s.text(path), s.pointer(unsafe.Pointer(how)), unsafe.Sizeof(*how)}, into: r,
	})
	return r
}

// close closes the last register, and makes room for another one.
func (s *Script) close(r register) {
	s.add("close", call{nr: unix.SYS_CLOSE, from: [6]register{r}})
	if int(r) == s.used {
		s.used--
	}
}

// Attributes of what is mounted, as mount_setattr(2) has them.
const (
	ReadOnly = unix.MOUNT_ATTR_RDONLY
	NoSUID   = unix.MOUNT_ATTR_NOSUID
	NoDevice = unix.MOUNT_ATTR_NODEV
	NoExec   = unix.MOUNT_ATTR_NOEXEC
)

// Bind shows source, with all that is mounted in it, at target. No path is followed through a link.
func (s *Script) Bind(source, target string, attributes uint64) {
	from := s.open(source)
	tree := s.register()
	s.add("take "+source, call{
		nr: unix.SYS_OPEN_TREE, into: tree, from: [6]register{from},
		args: [6]uintptr{0, s.text(""), unix.AT_EMPTY_PATH | unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE},
	})
	s.attributes("restrict "+source, call{from: [6]register{tree}, args: [6]uintptr{0, s.text(""), unix.AT_EMPTY_PATH | unix.AT_RECURSIVE}}, attributes)
	to := s.open(target)
	s.add("mount "+source+" at "+target, call{
		nr: unix.SYS_MOVE_MOUNT, from: [6]register{0: tree, 2: to},
		args: [6]uintptr{0, s.text(""), 0, s.text(""), unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH},
	})
	s.close(to)
	s.close(tree)
	s.close(from)
}

// Restrict adds attributes to what is mounted at a path, which is not followed through a link. What is mounted
// beneath keeps its own.
func (s *Script) Restrict(path string, attributes uint64) {
	at := s.open(path)
	s.attributes("restrict "+path, call{from: [6]register{at}, args: [6]uintptr{0, s.text(""), unix.AT_EMPTY_PATH}}, attributes)
	s.close(at)
}

func (s *Script) attributes(what string, c call, attributes uint64) {
	attr := &unix.MountAttr{Attr_set: attributes}
	c.nr, c.args[3], c.args[4] = unix.SYS_MOUNT_SETATTR, s.pointer(unsafe.Pointer(attr)), unsafe.Sizeof(*attr)
	s.add(what, c)
}

// MountNew mounts a new file system of a kind. target is a path of the script's own making.
func (s *Script) MountNew(kind, target string, flags uintptr, options string) {
	s.add("mount "+kind+" at "+target, call{
		nr: unix.SYS_MOUNT, args: [6]uintptr{s.text(kind), s.text(target), s.text(kind), flags, s.text(options)},
	})
}

// Private keeps what is mounted from now on, here or outside, from the other side.
func (s *Script) Private() {
	s.add("leave the mounts of the system", call{
		nr: unix.SYS_MOUNT, args: [6]uintptr{0, s.text("/"), 0, unix.MS_REC | unix.MS_PRIVATE},
	})
}

// Root makes a directory the root, and shows the former one at old, a path beneath it.
func (s *Script) Root(dir, old string) {
	s.add("enter "+dir, call{nr: unix.SYS_CHDIR, args: [6]uintptr{s.text(dir)}})
	s.add("change the root", call{nr: unix.SYS_PIVOT_ROOT, args: [6]uintptr{s.text("."), s.text(old)}})
	s.add("enter the root", call{nr: unix.SYS_CHDIR, args: [6]uintptr{s.text("/")}})
}

// FinalRoot makes a directory the root, and drops the former one.
func (s *Script) FinalRoot(dir string) {
	s.add("enter "+dir, call{nr: unix.SYS_CHDIR, args: [6]uintptr{s.text(dir)}})
	s.add("change the root", call{nr: unix.SYS_PIVOT_ROOT, args: [6]uintptr{s.text("."), s.text(".")}})
	s.add("leave the former root", call{nr: unix.SYS_UMOUNT2, args: [6]uintptr{s.text("."), unix.MNT_DETACH}})
	s.add("enter the root", call{nr: unix.SYS_CHDIR, args: [6]uintptr{s.text("/")}})
}

// in makes a call in the directory of a path, which gets that as its first argument and the name as its second.
func (s *Script) in(path string, nr uintptr, passes unix.Errno, rest ...uintptr) {
	dir := s.open(filepath.Dir(path))
	c := call{nr: nr, from: [6]register{dir}, args: [6]uintptr{0, s.text(filepath.Base(path))}, passes: passes}
	copy(c.args[2:], rest)
	s.add("make "+path, c)
	s.close(dir)
}

// Mkdir makes a directory, unless something is there.
func (s *Script) Mkdir(path string, perm uint32) {
	s.in(path, unix.SYS_MKDIRAT, unix.EEXIST, uintptr(perm))
}

// Touch makes an empty file, unless something is there.
func (s *Script) Touch(path string) {
	s.in(path, unix.SYS_MKNODAT, unix.EEXIST, unix.S_IFREG|0o600)
}

// Symlink makes a symbolic link.
func (s *Script) Symlink(target, path string) {
	dir := s.open(filepath.Dir(path))
	s.add("make "+path, call{nr: unix.SYS_SYMLINKAT, from: [6]register{1: dir}, args: [6]uintptr{s.text(target), 0, s.text(filepath.Base(path))}})
	s.close(dir)
}

// WriteFile makes a file with a content. There must be none.
func (s *Script) WriteFile(path string, content []byte, perm uint32) {
	dir := s.open(filepath.Dir(path))
	s.write("make "+path, content, call{
		nr: unix.SYS_OPENAT, from: [6]register{dir},
		args: [6]uintptr{0, s.text(filepath.Base(path)), unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_WRONLY | unix.O_CLOEXEC, uintptr(perm)},
	})
	s.close(dir)
}

// write opens a file and writes it as a whole.
func (s *Script) write(what string, content []byte, open call) {
	open.into = s.register()
	s.add(what, open)
	if len(content) > 0 {
		content = append([]byte(nil), content...)
		s.add(what, call{
			nr: unix.SYS_WRITE, from: [6]register{open.into}, want: uintptr(len(content)),
			args: [6]uintptr{0, s.pointer(unsafe.Pointer(&content[0])), uintptr(len(content))},
		})
	}
	s.close(open.into)
}

// Umask sets the mask of the modes of what is made, until restore.
func (s *Script) Umask(mask int) (restore func()) {
	r := s.register()
	s.add("set the mask of modes", call{nr: unix.SYS_UMASK, args: [6]uintptr{uintptr(mask)}, into: r})
	return func() {
		s.add("restore the mask of modes", call{nr: unix.SYS_UMASK, from: [6]register{r}})
		s.used--
	}
}

// Identity gives the user namespace that the process is in the user and the group that it has outside.
func (s *Script) Identity(uid, gid int) {
	const what = "write down the user"
	dumpable := func(on uintptr) {
		s.add(what, call{nr: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_SET_DUMPABLE, on}})
	}
	// The files are root's as long as the process's memory is closed to others.
	dumpable(1)
	for _, file := range [...]struct{ name, content string }{
		{"setgroups", "deny"}, {"uid_map", fmt.Sprintf("%d %d 1\n", uid, uid)}, {"gid_map", fmt.Sprintf("%d %d 1\n", gid, gid)},
	} {
		s.write(what, []byte(file.content), call{
			nr: unix.SYS_OPENAT, args: [6]uintptr{atCWD, s.text("/proc/self/" + file.name), unix.O_WRONLY | unix.O_CLOEXEC},
		})
	}
	dumpable(0)
}

// Loopback starts the loopback device of a new network namespace.
func (s *Script) Loopback() {
	device, err := unix.NewIfreq("lo")
	if err != nil {
		s.err = err
		return
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOOPBACK)
	r := s.register()
	s.add("make a socket", call{nr: unix.SYS_SOCKET, into: r, args: [6]uintptr{unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}})
	s.add("start the loopback device", call{
		nr: unix.SYS_IOCTL, from: [6]register{r}, args: [6]uintptr{0, unix.SIOCSIFFLAGS, s.pointer(unsafe.Pointer(device))},
	})
	s.close(r)
}

// DropCapabilities gives up all rights over the namespaces, also for programs of root's.
func (s *Script) DropCapabilities() {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// What an older kernel does not know, it does not give.
		s.add("drop a capability", call{nr: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_CAPBSET_DROP, c}, passes: unix.EINVAL})
	}
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := &[2]unix.CapUserData{}
	s.add("drop the capabilities", call{nr: unix.SYS_CAPSET, args: [6]uintptr{s.pointer(unsafe.Pointer(header)), s.pointer(unsafe.Pointer(none))}})
	s.add("gain no rights", call{nr: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_SET_NO_NEW_PRIVS, 1}})
}

// Filter puts a filter of system calls on the process; nil is none.
func (s *Script) Filter(code []unix.SockFilter) {
	if len(code) == 0 {
		return
	}
	prog := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	s.add("filter system calls", call{
		nr: unix.SYS_SECCOMP, args: [6]uintptr{unix.SECCOMP_SET_MODE_FILTER, 0, s.pointer(unsafe.Pointer(prog))},
	})
}
