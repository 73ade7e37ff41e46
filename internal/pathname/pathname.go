package pathname

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Contains reports whether a path is a directory or lies beneath it. A directory
// contains itself. Whole names are compared: "/a" does not contain "/ab". Both are
// cleaned first, so that a slash at the end and ".." count for what they mean. An
// empty directory contains nothing, and an absolute one no relative path. On Windows
// both separators count, and case does not.
func Contains(dir, path string) bool {
	_, ok := Rel(dir, path)
	return ok
}

// Innermost returns the longest of the directories that contain a path; "" when none does.
func Innermost(dirs []string, path string) string {
	innermost := ""
	for _, dir := range dirs {
		if Contains(dir, path) && len(dir) > len(innermost) {
			innermost = dir
		}
	}
	return innermost
}

// Rel returns what is left of a path below a directory that contains it, in the
// path's own spelling; "." for the directory itself.
func Rel(dir, path string) (rel string, ok bool) {
	if runtime.GOOS == "windows" {
		rel, ok = relWindows(dir, path)
		return filepath.FromSlash(rel), ok
	}
	return relPOSIX(dir, path)
}

func relPOSIX(dir, name string) (rel string, ok bool) {
	if dir == "" || name == "" {
		return "", false
	}
	return below(path.Clean(dir), path.Clean(name), func(a, b string) bool { return a == b })
}

func relWindows(dir, name string) (rel string, ok bool) {
	if dir == "" || name == "" {
		return "", false
	}
	dir, name = cleanWindows(dir), cleanWindows(name)
	// "C:" is the current directory of a volume, which its text does not tell.
	if len(dir) == 2 && dir[1] == ':' || dir == "." && len(name) > 1 && name[1] == ':' {
		return ".", strings.EqualFold(dir, name)
	}
	return below(dir, name, strings.EqualFold)
}

// cleanWindows is the clean form of a Windows path, with slashes. The two slashes that
// begin the name of another machine's share stay, and "C:" is apart from "C:/".
func cleanWindows(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "//") {
		return "/" + path.Clean(name)
	}
	if len(name) > 1 && name[1] == ':' {
		if len(name) == 2 {
			return name
		}
		return name[:2] + path.Clean(name[2:])
	}
	return path.Clean(name)
}

// below compares two clean paths with slashes.
func below(dir, name string, same func(a, b string) bool) (rel string, ok bool) {
	switch {
	case same(dir, name):
		return ".", true
	case dir == ".": // it contains what is relative and does not lead out
		return name, !strings.HasPrefix(name, "/") && name != ".." && !strings.HasPrefix(name, "../")
	case !strings.HasSuffix(dir, "/"): // all but the top of a file system
		dir += "/"
	}
	if len(name) <= len(dir) || !same(name[:len(dir)], dir) {
		return "", false
	}
	return name[len(dir):], true
}
