package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"acp-agent/internal/launch"
)

// bubblewrap puts bwrap before the command. Everything is read-only but what the
// policy names; /tmp, /run, /dev and /proc are the command's own; there is no
// capability, also not for root.
func (p *Policy) bubblewrap(start *launch.Start) error {
	args := []string{p.Program, "--unshare-user", "--unshare-pid", "--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	if p.Outside {
		args = append(args, "--dev-bind", "/", "/", "--proc", "/proc")
	} else {
		args = append(args, "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	}
	if !p.Network && !p.ViaProxy {
		args = append(args, "--unshare-net")
	}
	v, err := p.viewFor(start)
	if err != nil {
		return err
	}
	mounts, err := v.bubblewrapArgs(start)
	if err != nil {
		return err
	}
	args = append(args, mounts...)
	if filter := p.filter(); filter != nil {
		f, err := fileOf(filterBytes(filter))
		if err != nil {
			return fmt.Errorf("hand over the filter of system calls: %w", err)
		}
		args = append(args, "--seccomp", strconv.Itoa(start.Hand(f)))
	}
	args = append(args, "--chdir", start.Spec.Dir, "--")
	start.Argv = slices.Concat(args, start.Argv)
	start.Sandbox = true
	return nil
}

// bubblewrapArgs are the options of bwrap by which it makes the view.
func (v view) bubblewrapArgs(start *launch.Start) ([]string, error) {
	var args []string
	for _, step := range v {
		perm := fmt.Sprintf("%04o", step.perm)
		switch step.do {
		case showReadOnly:
			args = append(args, "--ro-bind", step.from, step.path)
		case showWritable:
			args = append(args, "--bind", step.from, step.path)
		case emptyDir:
			args = append(args, "--perms", perm, "--tmpfs", step.path)
		case newLink:
			args = append(args, "--symlink", step.from, step.path)
		case seal:
			args = append(args, "--remount-ro", step.path)
		case coverFile, newFile:
			f, err := fileOf(step.data)
			if err != nil {
				return nil, fmt.Errorf("hand over %s: %w", step.path, err)
			}
			option := "--ro-bind-data"
			if step.do == newFile {
				option = "--file"
			}
			args = append(args, "--perms", perm, option, strconv.Itoa(start.Hand(f)), step.path)
		}
	}
	return args, nil
}

// fileOf returns a file without a name, from which a content can be read.
func fileOf(content []byte) (*os.File, error) {
	if len(content) == 0 {
		return os.Open(os.DevNull)
	}
	fd, err := unix.MemfdCreate("acp-agent", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "content")
	if _, err := f.WriteAt(content, 0); err != nil { // which leaves it at its beginning
		f.Close()
		return nil, err
	}
	return f, nil
}
