package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// linkTarget reads a symbolic link or a junction. Other reparse points, such
// as a cloud drive's placeholders, are what they seem.
func linkTarget(path string, info fs.FileInfo) (target string, isLink bool, err error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err = os.Readlink(path)
		if target != "" && os.IsPathSeparator(target[0]) && filepath.VolumeName(target) == "" {
			target = filepath.VolumeName(path) + target // rooted on the link's own drive
		}
		return plainPath(target), true, err
	case info.Mode()&fs.ModeIrregular != 0:
		if target, err = os.Readlink(path); err == nil {
			return plainPath(target), true, nil
		}
	}
	return "", false, nil
}

// canonicalName returns the long form of a path, so that a secret cannot be
// asked for by its 8.3 alias. A path the system cannot name stays as it is.
func canonicalName(path string) string {
	short, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return path
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(short, &buf[0], uint32(len(buf)))
	if err != nil || n == 0 || int(n) > len(buf) {
		return path
	}
	return windows.UTF16ToString(buf[:n])
}

// plainPath takes off the verbatim prefix.
func plainPath(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		return `\\` + rest
	}
	return strings.TrimPrefix(path, `\\?\`)
}
