package nsfork_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/nsfork"
	"acp-agent/internal/testkit/testreq"
)

// start runs a text of the shell in namespaces of its own, and returns what it prints and how it ended.
func start(t *testing.T, text string, change func(*nsfork.Process)) (output string, status syscall.WaitStatus, err error) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var build, enter nsfork.Script
	build.Identity(os.Geteuid(), os.Getegid())
	build.Private()
	build.MountNew("proc", "/proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	p := nsfork.Process{
		Argv: []string{"/bin/sh", "-c", text}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "A=b c"},
		Files: []uintptr{null.Fd(), w.Fd(), w.Fd()}, Build: &build, Enter: &enter,
	}
	if change != nil {
		change(&p)
	}
	pid, err := nsfork.Start(p)
	w.Close()
	if errors.Is(err, unix.EPERM) && strings.Contains(err.Error(), "namespaces") {
		testreq.Skip(t, "an ordinary user may make no namespaces here")
	}
	if err != nil {
		return "", 0, err
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), status, nil
}

// TestStart is what a program finds around it.
func TestStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		change     func(*nsfork.Process)
		want       string
	}{
		{"an exit code", "exit 7", nil, " 7"},
		{"a signal", "kill -9 $$", nil, " 137"},
		{"not the first process", "echo $$", nil, "2 0"},
		{"its user", "id -u", nil, fmt.Sprint(os.Geteuid(), " 0")},
		{"its environment", `echo "$A"`, nil, "b c 0"},
		{"its directory", "pwd", func(p *nsfork.Process) { p.Dir = "/usr" }, "/usr 0"},
		{"no descriptors but its own", "cd /proc/self/fd && echo *", nil, "0 1 2 3 0"}, // the last one is of the shell for the directory
		{"what it leaves behind ends with it", "sleep 1000 & exec echo done", nil, "done 0"},
		{"what it leaves behind does not end it", "sh -c 'sleep 0.01 & exit 3'; sleep 0.05; echo $?", nil, "0 0"},
		{"no rights", "grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status | cut -f 2 | sort -u | tr '\n' ' '", func(p *nsfork.Process) { p.Build.DropCapabilities() }, "0000000000000000 1 0"},
		{"the memory of the first process is closed", "cat /proc/1/environ || echo closed", func(p *nsfork.Process) { p.Build.DropCapabilities() }, "cat: /proc/1/environ: Permission denied\nclosed 0"},
		{"a filter", "chmod 700 /proc/self/cmdline 2>&1 | grep -c 'Operation not permitted'", func(p *nsfork.Process) {
			p.Build.DropCapabilities()
			p.Enter.Filter(refusing(unix.SYS_FCHMODAT))
		}, "1 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, status, err := start(t, tt.text, tt.change)
			if got := fmt.Sprint(out, " ", status.ExitStatus()); err != nil || strings.TrimPrefix(got, " ") != strings.TrimPrefix(tt.want, " ") {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// refusing is a filter that refuses one system call.
func refusing(nr uint32) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
}

// Only that there is no process is told apart from all else that fails.
func TestStart_ErrClone(t *testing.T) {
	t.Parallel()
	noCgroup := -1
	_, _, err := start(t, "true", func(p *nsfork.Process) { p.Cgroup = &noCgroup })
	if !errors.Is(err, nsfork.ErrClone) {
		t.Errorf("in no cgroup: %v", err)
	}
	for name, change := range map[string]func(*nsfork.Process){
		"bound": func(p *nsfork.Process) { p.Ready = func(int) error { return unix.EPERM } },
		"build": func(p *nsfork.Process) { p.Build.Bind("/no/such", "/tmp", 0) },
		"enter": func(p *nsfork.Process) { p.Dir = "/no/such" },
	} {
		if _, _, err := start(t, "true", change); err == nil || errors.Is(err, nsfork.ErrClone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ended waits until a process has ended, and fails.
func ended(pid int) error {
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		if strings.Contains(string(stat), ") Z ") {
			return unix.ESRCH
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStart_Errors: what fails is named, and nothing runs.
func TestStart_Errors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/usr", link); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	tests := []struct {
		name   string
		change func(*nsfork.Process)
		want   string
	}{
		{"no program", func(p *nsfork.Process) { p.Argv[0] = "/no/such" }, "start /no/such: no such file or directory"},
		{"no directory", func(p *nsfork.Process) { p.Dir = "/no/such" }, "enter /no/such: no such file or directory"},
		{"nothing to show", func(p *nsfork.Process) { p.Build.Bind("/no/such", dir, 0) }, "open /no/such: no such file or directory"},
		{"nothing to show, and by then nothing to bound", func(p *nsfork.Process) {
			p.Build.Bind("/no/such", dir, 0)
			p.Ready = ended
		}, "open /no/such: no such file or directory"},
		{"a link in the place of what is shown", func(p *nsfork.Process) { p.Build.Bind(link, dir, 0) }, "open " + link + ": too many levels of symbolic links"},
		{"a link on the way", func(p *nsfork.Process) { p.Build.Bind(dir, link+"/share", 0) }, "open " + link + "/share: too many levels of symbolic links"},
		{"a link on the way to what is made", func(p *nsfork.Process) { p.Build.Mkdir(link+"/made", 0o700) }, "open " + link + ": too many levels of symbolic links"},
		{"a file that is there", func(p *nsfork.Process) { p.Build.WriteFile(link, []byte("x"), 0o600) }, "make " + link + ": file exists"},
		{"a NUL byte", func(p *nsfork.Process) { p.Build.Mkdir("a\x00b", 0o700) }, `nsfork: "a\x00b": invalid argument`},
		{"a NUL byte in an argument", func(p *nsfork.Process) { p.Argv[1] = "a\x00b" }, "argument holds a NUL byte: invalid argument"},
		{"the caller cannot bound it", func(p *nsfork.Process) { p.Ready = func(int) error { return errors.New("cannot") } }, "cannot"},
		{"no script", func(p *nsfork.Process) { p.Build = nil }, "nsfork: incomplete process"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := start(t, "echo x > "+ran, tt.change); err == nil || err.Error() != tt.want {
				t.Errorf("%v; want %s", err, tt.want)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Lstat(ran); err == nil {
			t.Error("a program was run")
		}
	})
}

// TestScript_View: what is built is what the program sees, and stays in its namespaces.
func TestScript_View(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"shown", "covered", "open"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "shown", "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := start(t, `cd `+dir+`/covered && cat file made link; stat -c %a made dir; touch x 2>&1 | grep -c Read-only; touch ../open/x; umask; ls `+dir+`/shown/file`, func(p *nsfork.Process) {
		restore := p.Build.Umask(0)
		p.Build.Bind(dir+"/shown", dir+"/covered", 0)
		p.Build.WriteFile(dir+"/covered/made", []byte("made"), 0o666)
		p.Build.Mkdir(dir+"/covered/dir", 0o1777)
		p.Build.Mkdir(dir+"/covered/dir", 0o700)
		p.Build.Symlink("made", dir+"/covered/link")
		p.Build.Touch(dir + "/covered/made")
		p.Build.Restrict(dir+"/covered", nsfork.ReadOnly)
		restore()
	})
	want := fmt.Sprintf("textmademade666\n1777\n1\n%04o\n%s/shown/file", mask(t), dir)
	if err != nil || out != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
	if left, _ := filepath.Glob(dir + "/covered/*"); len(left) > 0 {
		t.Errorf("outside, there are %q", left)
	}
}

// mask is the mask of modes of this process.
func mask(t *testing.T) (mask int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "Umask:")
	if _, err := fmt.Sscanf(rest, "%o", &mask); err != nil {
		t.Fatal(err)
	}
	return mask
}

// TestStart_ParentGone: a child that waits for its parent does not hold what it waits for open itself, else it
// would wait for ever for a parent that ended before the child asked for a signal.
func TestStart_ParentGone(t *testing.T) {
	t.Parallel()
	_, _, err := start(t, "true", func(p *nsfork.Process) {
		p.Ready = func(pid int) error {
			dir := fmt.Sprintf("/proc/%d/", pid)
			fd, err := waitedFor(dir)
			if err != nil {
				return err
			}
			gate, err := os.Readlink(dir + "fd/" + fd)
			if err != nil {
				return err
			}
			names, err := filepath.Glob(dir + "fd/*")
			for _, name := range names {
				if target, _ := os.Readlink(name); target == gate && filepath.Base(name) != fd {
					err = errors.Join(err, fmt.Errorf("%s holds the gate open", name))
				}
			}
			return err
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// waitedFor is the descriptor that a process waits for to read from.
func waitedFor(dir string) (fd string, err error) {
	for {
		text, err := os.ReadFile(dir + "syscall")
		if err != nil {
			return "", err
		}
		var nr, at int
		if _, err := fmt.Sscanf(string(text), "%d 0x%x", &nr, &at); err == nil && nr == unix.SYS_READ {
			return fmt.Sprint(at), nil
		}
		time.Sleep(time.Millisecond)
	}
}
