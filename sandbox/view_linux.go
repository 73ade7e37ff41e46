package sandbox

import (
	"cmp"
	"os"

	"acp-agent/internal/launch"
	"acp-agent/internal/pathname"
)

// view is what a command sees of the disk, beside all of it, read-only, and directories of its own in the
// place of /dev and /proc: what is mounted on that, in order.
type view []viewStep

// viewStep is one of its steps.
type viewStep struct {
	do   viewAction
	path string
	// from is what is shown, a path without links as far as we know, or where a link leads.
	from string
	data []byte
	perm uint32
}

// viewAction says what a step does at its path.
type viewAction int

const (
	showReadOnly viewAction = iota // shows from, with what is mounted in it
	showWritable                   // the same
	emptyDir                       // an empty directory in its place
	coverFile                      // a read-only file with data in the place of one that is there
	newFile                        // a file with data where an emptyDir lies
	newLink                        // a symbolic link to from, there
	seal                           // makes an emptyDir read-only; what is mounted in it stays as it is
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

// viewFor is what the policy's command sees. It puts our binary before the command where secrets are closed, or
// something has to be looked at, from within.
func (p *Policy) viewFor(start *launch.Start) (view, error) {
	var v view
	if p.Outside {
		v.cover(p.covers())
		return v, nil
	}
	for _, path := range kernelFiles {
		if _, err := os.Lstat(path); err == nil {
			v.add(viewStep{do: showReadOnly, path: path, from: path})
		}
	}
	v.ownDirs(p.Tmp)
	v.places(p)
	within := p.closesFiles() || len(p.Checked) > 0 || p.looksAtMounts()
	if within || p.ViaProxy {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		v.add(viewStep{do: showReadOnly, path: innerPath, from: self})
	}
	if p.ViaProxy {
		v.viaProxy(p.SSHConfig)
	}
	if within {
		if err := p.inner(start, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *view) add(step viewStep) { *v = append(*v, step) }

// ownDirs puts the command's own directories in the place of [hidden].
func (v *view) ownDirs(tmp string) {
	for _, dir := range hidden {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue // a link leads to one of the others
		}
		switch {
		case dir == "/run":
			v.add(viewStep{do: emptyDir, path: dir, perm: 0o755})
			for _, shown := range shownRun {
				if real := resolved(shown); real != "" {
					v.add(viewStep{do: showReadOnly, path: shown, from: real})
				}
			}
		case tmp != "":
			v.add(viewStep{do: showWritable, path: dir, from: cmp.Or(resolved(tmp), tmp)})
		default:
			v.add(viewStep{do: emptyDir, path: dir, perm: 0o1777})
		}
	}
}

// places are those of the policy. A masked directory is an empty one, and so
// is a concealed one but for the links that lead to what is shown; a masked file is an
// empty file: programs go on as if there were no settings. A secret
// of the project cannot be opened, so that an empty one is not taken for its
// contents and committed. What is mounted in a masked directory must be there before
// it becomes read-only. Settings in a concealed directory are copied into it: of each
// mount bwrap reads the table of all mounts.
func (v *view) places(p *Policy) {
	var sealed []viewStep
	shown, closes := visible(p.places()), p.closesFiles()
	links := p.links(shown)
	for i, at := range shown {
		step := viewStep{path: at.path, from: at.path}
		switch {
		case at.access == concealed, at.access >= masked && at.dir:
			v.add(viewStep{do: emptyDir, path: at.path, perm: 0o755})
			for _, link := range links {
				if at.access == concealed && pathname.Contains(at.path, link.path) {
					v.add(viewStep{do: newLink, path: link.path, from: link.target})
				}
			}
			sealed = append(sealed, viewStep{do: seal, path: at.path})
			continue
		case at.access == secret && closes:
			continue
		case at.access == writable:
			step.do = showWritable
		case at.access == readable && inConcealed(shown[:i], at.path) && p.checked(at.path) == nil && settings(at.path):
			data, err := os.ReadFile(at.path)
			if err != nil {
				continue // it is gone, or not the user's to read
			}
			step = viewStep{do: newFile, path: at.path, data: data, perm: 0o444}
		case at.access < masked:
			step.do = showReadOnly
		case at.access == secret:
			step = viewStep{do: coverFile, path: at.path, perm: 0}
		default:
			step = viewStep{do: coverFile, path: at.path, perm: 0o600}
		}
		v.add(step)
	}
	*v = append(*v, sealed...)
}

// cover puts something empty in the place of each.
func (v *view) cover(places []place) {
	for _, at := range places {
		if !at.dir {
			v.add(viewStep{do: coverFile, path: at.path, perm: 0o600})
			continue
		}
		v.add(viewStep{do: emptyDir, path: at.path, perm: 0o755})
		v.add(viewStep{do: seal, path: at.path})
	}
}

// settings reports whether a path is a file that may be settings: small, and not a program.
func settings(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0 && info.Size() <= mostSettings
}
