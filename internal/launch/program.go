package launch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// FindProgram returns the absolute path of a program: of a plain name, the
// first match in the absolute directories of path, a PATH value; of an absolute
// path, that path. A program that lies inside one of the workspace directories,
// also by way of a symbolic link, is passed over: a user who may change files
// there must not choose what runs. ok is false when nothing is left. On Windows
// only .exe files count, for anything else would need a shell (C10).
func FindProgram(name, path string, workspace []string) (program string, ok bool) {
	roots := resolveAll(workspace)
	switch {
	case filepath.IsAbs(name):
		program = firstRunnable([]string{filepath.Clean(name)}, roots)
	case name != "" && filepath.Base(name) == name && filepath.IsLocal(name):
		program = findProgram(name, nil, filepath.SplitList(path), roots)
	}
	return program, program != ""
}

// findProgram returns the first program outside the workspace: of some paths, then of
// that name in some directories.
func findProgram(name string, paths, dirs, roots []string) string {
	if runtime.GOOS == "windows" && !strings.EqualFold(filepath.Ext(name), ".exe") {
		name += ".exe"
	}
	for _, dir := range dirs {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return firstRunnable(paths, roots)
}

func firstRunnable(paths, roots []string) string {
	for _, p := range paths {
		// Most paths lead to nothing, which one system call says; to follow links takes one for each directory.
		if !isProgram(p) {
			continue
		}
		real, err := filepath.EvalSymlinks(p)
		if err == nil && !inAny(roots, p) && !inAny(roots, real) && isProgram(real) {
			return p
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && runnable(info)
}

func runnable(info os.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// resolveAll returns the directories cleaned, and with symbolic links followed
// where that gives another name.
func resolveAll(dirs []string) []string {
	var out []string
	for _, d := range dirs {
		if d == "" {
			continue
		}
		d = filepath.Clean(d)
		out = append(out, d)
		if real, err := filepath.EvalSymlinks(d); err == nil && real != d {
			out = append(out, real)
		}
	}
	return out
}

// inAny reports whether one of the roots contains a path.
func inAny(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return pathname.Contains(root, path) })
}
