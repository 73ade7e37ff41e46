package workspace

import (
	"io/fs"
	"runtime"

	"acp-agent/internal/pathname"
	"acp-agent/tools"
)

// special are the types of files that are not read and not written: opening one may
// wait, reading one may never end or have effects (P6).
const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeIrregular

// refuseKernel refuses a path that leads to a device, a pipe, a socket or a file of
// the kernel, whatever links lead there. The name alone does not tell, because
// such a file system can be mounted anywhere.
func refuseKernel(t *trail) error {
	switch {
	case t.exists() && t.last().info.Mode()&special != 0:
		return kernelError(t, "a device, a pipe or a socket")
	case isKernelName(t.real()), isKernelPath(t.last().path):
		return kernelError(t, "a file of the kernel")
	}
	return nil
}

func kernelError(t *trail, what string) *tools.Error {
	where := t.asked
	if real := t.real(); real != t.asked {
		where += " (which leads to " + real + ")"
	}
	return &tools.Error{
		Kind: tools.Denied, Path: t.asked, DeniedBy: tools.DeniedByCapability,
		Message: where + " is " + what + ", which file tools do not open: reading it may never end",
		Hint:    "what a program can print of it, a command can show, which the user is asked about",
	}
}

// isKernelName reports whether a path without links lies where devices and files of
// the kernel are on this system. Shared memory holds plain files.
func isKernelName(path string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if rel, ok := pathname.Rel(dir, path); ok {
			return dir != "/dev" || !pathname.Contains("shm", rel)
		}
	}
	return false
}
