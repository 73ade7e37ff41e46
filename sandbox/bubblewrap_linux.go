package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"acp-agent/internal/launch"
	"acp-agent/internal/pathname"
)

// shownRun are the parts of /run that programs need: the names of servers for the
// network, and the system itself on NixOS. The rest is sockets of services (S6).
var shownRun = [...]string{
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
	"/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers",
}

// kernelFiles are the parts of /proc that root may write whatever its capabilities
// are, and that hold for the whole machine.
var kernelFiles = [...]string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/fs"}

// bubblewrap puts bwrap before the command. Everything is read-only but what the
// policy names; /tmp, /run, /dev and /proc are the command's own; there is no
// capability, also not for root.
func (p *Policy) bubblewrap(start *launch.Start) error {
	filter, err := filterFile(seccompFilter(bubblewrapped, p))
	if err != nil {
		return err
	}
	args := []string{
		p.Program, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	for _, path := range kernelFiles {
		args = append(args, "--ro-bind-try", path, path)
	}
	if !p.Network && !p.Joined {
		args = append(args, "--unshare-net")
	}
	args = append(args, p.ownDirs()...)
	mounts, err := p.mountArgs(start)
	if err != nil {
		return err
	}
	args = append(args, mounts...)
	if p.closesFiles() {
		visible, err := p.inner(start)
		if err != nil {
			return err
		}
		args = append(args, visible...)
	}
	if filter != nil {
		args = append(args, "--seccomp", strconv.Itoa(start.Hand(filter)))
	}
	args = append(args, "--chdir", start.Spec.Dir, "--")
	start.Argv = slices.Concat(args, start.Argv)
	start.Sandbox = true
	return nil
}

// ownDirs puts the command's own directories in the place of [hidden].
func (p *Policy) ownDirs() []string {
	var args []string
	for _, dir := range hidden {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue // a link leads to one of the others
		}
		switch {
		case dir == "/run":
			args = append(args, "--perms", "0755", "--tmpfs", dir)
			for _, shown := range shownRun {
				if _, err := os.Stat(shown); err == nil {
					args = append(args, "--ro-bind", shown, shown)
				}
			}
		case p.Tmp != "":
			args = append(args, "--bind", p.Tmp, dir)
		default:
			args = append(args, "--perms", "1777", "--tmpfs", dir)
		}
	}
	return args
}

// mountArgs are the places of the policy. A masked directory is an empty one, and so
// is a concealed one but for the links that lead to what is shown; a masked file is an
// empty file: programs go on as if there were no settings. A secret
// of the project cannot be opened, so that an empty one is not taken for its
// contents and committed. What is mounted in a masked directory must be there before
// it becomes read-only. Settings in a concealed directory are copied into it: of each
// mount bwrap reads the table of all mounts.
func (p *Policy) mountArgs(start *launch.Start) ([]string, error) {
	var args, after []string
	shown, closes := visible(p.places()), p.closesFiles()
	links := p.links(shown)
	for i, at := range shown {
		switch {
		case at.access == concealed:
			args = append(args, "--perms", "0755", "--tmpfs", at.path)
			for _, link := range links {
				if pathname.Contains(at.path, link.path) {
					args = append(args, "--symlink", link.target, link.path)
				}
			}
			after = append(after, "--remount-ro", at.path)
		case at.access == secret && closes:
		case at.access == writable:
			args = append(args, "--bind", at.path, at.path)
		case at.access == readable && inConcealed(shown[:i], at.path) && settings(at.path):
			file, err := os.Open(at.path)
			if err != nil {
				continue // it is gone, or not the user's to read
			}
			args = append(args, "--perms", "0444", "--file", strconv.Itoa(start.Hand(file)), at.path)
		case at.access < masked:
			args = append(args, "--ro-bind", at.path, at.path)
		case at.dir:
			args = append(args, "--perms", "0755", "--tmpfs", at.path)
			after = append(after, "--remount-ro", at.path)
		default:
			empty, err := os.Open(os.DevNull)
			if err != nil {
				return nil, err
			}
			if at.access == secret {
				args = append(args, "--perms", "0000")
			}
			args = append(args, "--ro-bind-data", strconv.Itoa(start.Hand(empty)), at.path)
		}
	}
	return append(args, after...), nil
}

// settings reports whether a path is a file that may be settings: small, and not a program.
func settings(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0 && info.Size() <= mostSettings
}

// filterFile returns a file from which a filter can be read; nil for none.
func filterFile(filter []unix.SockFilter) (*os.File, error) {
	if len(filter) == 0 {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(filterBytes(filter)) // far smaller than what a pipe holds
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("hand over the filter of system calls: %w", err)
	}
	return r, nil
}
