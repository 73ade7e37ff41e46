package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"acp-agent/workspace/undo/journal"
)

// keepAttributes copies the extended attributes of the file that is replaced,
// access lists among them, as far as we may.
func keepAttributes(to *os.File, p *place) {
	from, err := p.openFile()
	if err != nil {
		return
	}
	defer from.Close()
	setAttributes(to, attributesOf(from))
}

// attributesOf reads a file's extended attributes, as far as we may.
func attributesOf(f *os.File) []journal.Attribute {
	fd := int(f.Fd())
	size, err := unix.Flistxattr(fd, nil)
	if err != nil || size == 0 {
		return nil
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(fd, names); err != nil {
		return nil
	}
	var found []journal.Attribute
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		size, err := unix.Fgetxattr(fd, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, size)
		if size, err = unix.Fgetxattr(fd, name, value); err == nil {
			found = append(found, journal.Attribute{Name: name, Value: value[:size]})
		}
	}
	return found
}

func setAttributes(f *os.File, attributes []journal.Attribute) {
	for _, a := range attributes {
		_ = unix.Fsetxattr(int(f.Fd()), a.Name, a.Value, 0) // some are the kernel's own
	}
}
