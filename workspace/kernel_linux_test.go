package workspace

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
)

// TestCheck_RefusesDevicesAndKernelFiles holds that no answer of the user opens what
// may block, never end or have effects, whatever name or link leads there, and that
// plain files beside it are still asked about.
func TestCheck_RefusesDevicesAndKernelFiles(t *testing.T) {
	g := newFixture(t)
	link(t, "/proc/kmsg", g.in("log"))
	link(t, g.in("log"), g.in("chain"))
	link(t, "/proc", g.in("dir"))
	if err := syscall.Mkfifo(g.in("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(g.outside, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(g.cwd) // a socket's path must be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, path := range []string{
		"/proc/kmsg", "/proc/self/environ", "/proc/cpuinfo", "/proc", "/proc/absent", "/proc/self/fd/0", "/sys/kernel/uevent_seqnum", "/sys",
		"/dev/zero", "/dev/null", "/dev/tty", "/dev", "/dev/stdin", "//dev/./zero", "/tmp/../proc/kmsg", "/proc/self/root/proc/kmsg",
		"log", "chain", "dir/kmsg", "dir", "fifo", "socket", filepath.Join(g.outside, "fifo"),
	} {
		_, err := g.Check(path, false)
		var refused *tools.Error
		if !errors.As(err, &refused) || refused.Kind != tools.Denied || refused.DeniedBy != tools.DeniedByCapability {
			t.Errorf("%s: %v, want a denial by the capability check", path, err)
		}
	}
	for _, path := range []string{"/proc/self/root/etc/passwd", "/dev/shm/notes", "/etc/passwd", filepath.Join(g.outside, "x"), "/developer", "/system"} {
		if access, err := g.Check(path, false); err != nil || access.Inside {
			t.Errorf("%s: inside %v, %v, want a question", path, access.Inside, err)
		}
	}
}

// TestFiles_KernelFileUnderAnotherName holds that the file system decides and not the
// name, for a path whose check came before the mount.
func TestFiles_KernelFileUnderAnotherName(t *testing.T) {
	g := newFixture(t)
	if err := os.Mkdir(g.in("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("proc", g.in("m"), "proc", 0, ""); err != nil {
		testreq.Skip(t, "the right to mount: "+err.Error())
	}
	defer func() {
		if err := syscall.Unmount(g.in("m"), syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	if _, err := g.Check("m/kmsg", false); err == nil || !strings.Contains(err.Error(), "kernel") {
		t.Errorf("check: %v, want a refusal", err)
	}
	_, err := g.call(t).FS().ReadText(t.Context(), "m/cmdline")
	toolError(t, err, tools.Denied)
}
