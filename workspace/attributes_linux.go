package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttributes copies the extended attributes of the file that is replaced,
// access lists among them, as far as we may.
func keepAttributes(to *os.File, p *place) {
	from, err := p.openFile()
	if err != nil {
		return
	}
	defer from.Close()
	src, dst := int(from.Fd()), int(to.Fd())
	size, err := unix.Flistxattr(src, nil)
	if err != nil || size == 0 {
		return
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(src, names); err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		size, err := unix.Fgetxattr(src, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, size)
		if size, err = unix.Fgetxattr(src, name, value); err == nil {
			_ = unix.Fsetxattr(dst, name, value[:size], 0) // some are the kernel's own
		}
	}
}
