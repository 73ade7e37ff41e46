package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"acp-agent/internal/pathname"
)

// Rights of Landlock, by the version of its interface that brought them.
const (
	landlockFirst = 1<<13 - 1 // version 1
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landlockFile  = landlockRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // the rights that a file can have
)

// sinks are the devices that keep nothing of what is written to them; terminals show it
// to the user, or run it.
var (
	sinks     = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	terminals = []string{"/dev/tty", "/dev/ptmx", "/dev/pts"}
)

// devices are the devices that the command may write to.
func (p *Policy) devices() []string {
	if p.Reading {
		return sinks
	}
	return slices.Concat(sinks, terminals)
}

// landlockVersion is the version of the kernel's interface, 0 where there is none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock restricts the calling thread, and with it the command that it starts.
func (p *Policy) landlock() error {
	set, err := newRuleset(landlockVersion(), p.Network)
	if err != nil {
		return err
	}
	defer unix.Close(set.fd)
	if err := p.landlockRules(set); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new rights: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := set.enter(); err != nil {
		return err
	}
	return enterFilter(seccompFilter(landlocked, p))
}

// dropCapabilities takes from the calling thread, and what it starts, all that root
// may do beyond being the owner of root's files: some of it leads around Landlock,
// such as reading the memory of other processes.
func dropCapabilities() error {
	const most = 63
	for c := range uintptr(most + 1) {
		// What is not there, or not ours to drop, fails: a plain user has none.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var nothing [2]unix.CapUserData
	if err := unix.Capset(&header, &nothing[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// landlockRules grants what the policy does. Names may be seen everywhere; contents
// but for what is masked.
func (p *Policy) landlockRules(set *ruleset) error {
	all := p.places()
	var hide []string
	for _, at := range all {
		if at.access >= masked || at.access == concealed {
			hide = append(hide, at.path)
		}
	}
	set.close(hide)
	for _, c := range p.Checked {
		set.checked[c.Path] = inode{c.Device, c.Inode}
	}
	for _, at := range all {
		var err error
		switch {
		case at.access == writable:
			err = set.allow(at.path, set.handled)
		case at.access == readable && slices.ContainsFunc(hide, func(dir string) bool { return pathname.Contains(dir, at.path) }):
			below := func(path string) bool { return path == at.path || !pathname.Contains(at.path, path) }
			err = set.allowBut(at.path, slices.DeleteFunc(slices.Clone(hide), below))
		}
		if err != nil {
			return err
		}
	}
	if p.Tmp != "" {
		if err := set.allow(cmp.Or(resolved(p.Tmp), p.Tmp), set.handled); err != nil {
			return err
		}
	}
	const device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	for _, path := range p.devices() {
		if err := set.allow(path, device); err != nil {
			return err
		}
	}
	if err := set.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	return set.allowBut("/", hide)
}

// ruleset is a set of Landlock rules in the making.
type ruleset struct {
	fd      int
	handled uint64
	closed  map[inode]bool
	// checked are the only files that get a rule under their names.
	checked map[string]inode
}

func newRuleset(version int, network bool) (*ruleset, error) {
	if version == 0 {
		return nil, errors.New("this kernel has no landlock")
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockFirst}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 4 {
		size = unsafe.Offsetof(attr.Scoped)
		if !network {
			attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= 6 {
		size = unsafe.Offsetof(attr.Quiet_access_fs)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return makeRuleset(attr, size)
}

// makeRuleset makes a set that handles what the attributes name, of which the kernel knows
// the first size bytes.
func makeRuleset(attr unix.LandlockRulesetAttr, size uintptr) (*ruleset, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("make landlock rules: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs, closed: map[inode]bool{}, checked: map[string]inode{}}, nil
}

// enter restricts the calling thread, which can gain no rights any more.
func (s *ruleset) enter() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(s.fd), 0, 0); errno != 0 {
		return fmt.Errorf("enter landlock: %w", errno)
	}
	return nil
}

// inode is a file under whatever name.
type inode struct{ dev, number uint64 }

// close has no rule made for the files by another of their names: a rule holds for a file,
// not for its name.
func (s *ruleset) close(paths []string) {
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it has gone
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			s.closed[inode{st.Dev, st.Ino}] = true
		}
		unix.Close(fd)
	}
}

// allow grants rights on a path and all that lies beneath it. One that is not there,
// or a link, gets none.
func (s *ruleset) allow(path string, rights uint64) error {
	fd, err := openWithoutLinks(path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %q: %w", path, err)
	}
	if want, ok := s.checked[path]; ok && want != (inode{st.Dev, st.Ino}) {
		return nil
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
	default:
		rights &= landlockFile
		if s.closed[inode{st.Dev, st.Ino}] {
			return nil
		}
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & s.handled, Parent_fd: int32(fd)}
	if rule.Allowed_access == 0 {
		return nil
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %q: %w", path, errno)
	}
	return nil
}

// openWithoutLinks opens a path of a policy, whose links were followed before: a command may put one on its way meanwhile.
func openWithoutLinks(path string, flags int) (fd int, err error) {
	how := &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_SYMLINKS}
	if fd, err = unix.Openat2(unix.AT_FDCWD, path, how); !errors.Is(err, unix.ENOSYS) {
		return fd, err
	}
	// Our own filter of system calls refuses the call, too.
	if fd, err = unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
		return 0, err
	}
	if real, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err != nil || real != path {
		unix.Close(fd)
		return 0, unix.ELOOP
	}
	return fd, nil
}

// allowBut grants reading beneath a directory but for what is hidden there. Rules can
// only give, so everything next to what is hidden is given by itself.
func (s *ruleset) allowBut(dir string, hide []string) error {
	inside := false
	for _, path := range hide {
		if pathname.Contains(path, dir) {
			return nil
		}
		inside = inside || pathname.Contains(dir, path)
	}
	if !inside {
		return s.allow(dir, landlockRead)
	}
	fd, err := openWithoutLinks(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ELOOP) {
			return nil // what we cannot look into, the command cannot either
		}
		return err
	}
	f := os.NewFile(uintptr(fd), dir)
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.allowBut(filepath.Join(dir, name), hide); err != nil {
			return err
		}
	}
	return nil
}
