package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"acp-agent/internal/launch"
	"acp-agent/internal/nsfork"
	"acp-agent/internal/pathname"
)

// namespaces has the command start in namespaces and in a view of the disk of its own, as bubblewrap does, without
// a program between.
func (p *Policy) namespaces(start *launch.Start) error {
	v, err := p.viewFor(start)
	if err != nil {
		return err
	}
	filter := p.filter()
	apartNetwork := !p.Network && !p.ViaProxy
	start.Sandbox = true
	start.Fork = func(argv []string, attr *syscall.ProcAttr, ready func(pid int) error) (int, error) {
		var build, enter nsfork.Script
		v.build(&build, apartNetwork, p.Outside, attr.Files)
		enter.Filter(filter)
		process := nsfork.Process{
			Argv: argv, Env: attr.Env, Dir: attr.Dir, Files: attr.Files, Network: apartNetwork, Build: &build, Enter: &enter, Ready: ready,
		}
		if attr.Sys.UseCgroupFD {
			process.Cgroup = &attr.Sys.CgroupFD
		}
		pid, err := nsfork.Start(process)
		if errors.Is(err, nsfork.ErrClone) {
			err = launch.NotForked{Err: err}
		}
		return pid, err
	}
	return nil
}

// Where the directories of a view lie while it is built: what the machine has, what the command will have, and what is
// made for it.
const (
	machineRoot = "/machine"
	commandRoot = "/command"
	madeRoot    = "/made"
)

// devices are the ones that a command has.
var devices = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// builder writes down the calls that make a view.
type builder struct {
	*nsfork.Script
	made  int
	steps []viewStep // that are done
}

// build writes down how the first process of the namespaces builds the view. files are the command's
// standard ones. outside leaves the disk and the devices as they are but for the view.
func (v view) build(s *nsfork.Script, network, outside bool, files []uintptr) {
	b := builder{Script: s}
	restore := s.Umask(0)
	s.Identity(os.Geteuid(), os.Getegid())
	s.Private()
	// Any directory serves that is none by a link. It is covered, in these namespaces, until what covers it is the root.
	const workshop = "/proc"
	s.MountNew("tmpfs", workshop, unix.MS_NOSUID|unix.MS_NODEV, "mode=0755")
	for _, dir := range [...]string{machineRoot, commandRoot, madeRoot} {
		s.Mkdir(workshop+dir, 0o755)
	}
	s.Root(workshop, strings.TrimPrefix(machineRoot, "/"))
	if outside {
		s.Bind(machineRoot, commandRoot, nsfork.NoSUID)
	} else {
		s.Bind(machineRoot, commandRoot, nsfork.ReadOnly|nsfork.NoSUID|nsfork.NoDevice)
		b.devices(files)
	}
	s.MountNew("proc", commandRoot+"/proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	for _, step := range v {
		b.do(step)
	}
	if network {
		s.Loopback()
	}
	s.FinalRoot(commandRoot)
	s.DropCapabilities()
	restore()
}

// do does one step of a view.
func (b *builder) do(step viewStep) {
	const own = nsfork.NoSUID | nsfork.NoDevice
	to := commandRoot + step.path
	if step.do != seal {
		b.makeRoom(step)
	}
	switch step.do {
	case showReadOnly:
		b.Bind(machineRoot+step.from, to, own|nsfork.ReadOnly)
	case showWritable:
		b.Bind(machineRoot+step.from, to, own)
	case emptyDir:
		dir := b.place()
		b.Mkdir(dir, step.perm)
		b.Bind(dir, to, own)
	case coverFile:
		file := b.place()
		b.WriteFile(file, step.data, step.perm)
		b.Bind(file, to, own|nsfork.ReadOnly)
	case newFile:
		b.WriteFile(to, step.data, step.perm)
	case newLink:
		b.Symlink(step.from, to)
	case seal:
		b.Restrict(to, nsfork.ReadOnly)
	}
	b.steps = append(b.steps, step)
}

// place is where the next thing is made.
func (b *builder) place() string {
	b.made++
	return fmt.Sprint(madeRoot, "/", b.made)
}

// makeRoom makes the directories above a step's path, and what is mounted on, where they are not the ones of the machine.
func (b *builder) makeRoom(step viewStep) {
	above := b.above(step.path)
	if above.path == "" || above.do != emptyDir && above.from == above.path {
		return
	}
	at := above.path
	for name := range strings.SplitSeq(strings.TrimPrefix(filepath.Dir(step.path), above.path), "/") {
		if at = filepath.Join(at, name); at != above.path {
			b.Mkdir(commandRoot+at, 0o755)
		}
	}
	switch info, err := os.Stat(step.from); {
	case step.do == newFile || step.do == newLink:
	case step.do == emptyDir || step.do != coverFile && err == nil && info.IsDir():
		b.Mkdir(commandRoot+step.path, 0o755)
	default:
		b.Touch(commandRoot + step.path)
	}
}

// above is the nearest step that was done whose path is above another one; the zero value is none.
func (b *builder) above(path string) (nearest viewStep) {
	for _, done := range b.steps {
		if done.do < newFile && done.path != path && pathname.Contains(done.path, path) && len(done.path) >= len(nearest.path) {
			nearest = done
		}
	}
	return nearest
}

// devices gives the command a /dev of its own.
func (b *builder) devices(files []uintptr) {
	b.do(viewStep{do: emptyDir, path: "/dev", perm: 0o755})
	show := func(from, name string) {
		if real := resolved(from); real != "" {
			b.Touch(commandRoot + "/dev/" + name)
			b.Bind(machineRoot+real, commandRoot+"/dev/"+name, nsfork.NoSUID|nsfork.NoExec)
		}
	}
	for _, name := range devices {
		show("/dev/"+name, name)
	}
	if terminal := terminalOf(files); terminal != "" {
		show(terminal, "console")
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"core": "/proc/kcore", "ptmx": "pts/ptmx",
	} {
		b.Symlink(target, commandRoot+"/dev/"+name)
	}
	b.Mkdir(commandRoot+"/dev/shm", 0o1777)
	b.Mkdir(commandRoot+"/dev/pts", 0o755)
	b.MountNew("devpts", commandRoot+"/dev/pts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
}

// terminalOf is the terminal that a command's output goes to; "" is none.
func terminalOf(files []uintptr) string {
	const output = 1
	if len(files) <= output {
		return ""
	}
	if _, err := unix.IoctlGetTermios(int(files[output]), unix.TCGETS); err != nil {
		return ""
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", files[output]))
	if err != nil || !strings.HasPrefix(path, "/dev/") {
		return ""
	}
	return path
}
