package mount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/internal/pathname"
)

// isLocal reports whether a source names a directory of this machine: "./x",
// "../x", "~/x", an absolute path, or any path after "file:".
func isLocal(source string) bool {
	for _, prefix := range []string{"./", "../", "~/", `.\`, `..\`, "file:"} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return source == "." || source == ".." || filepath.IsAbs(source)
}

// localDir is the directory of a local source, absolute, with links resolved.
func (o Options) localDir(source string) (string, error) {
	path := strings.TrimPrefix(strings.TrimPrefix(source, "file:"), "//")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if o.Home == "" {
			return "", fmt.Errorf("source %q: there is no home directory", source)
		}
		path = filepath.Join(o.Home, rest)
	}
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(o.Dir) {
			return "", fmt.Errorf("source %q is relative, and the plan has no directory of its own; give an absolute path", source)
		}
		path = filepath.Join(o.Dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("source %q: there is no directory %s", source, path)
	case err != nil:
		return "", fmt.Errorf("source %q: %w", source, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("source %q: %s is not a directory; name the one that holds %s", source, real, manifestName)
	}
	return real, nil
}

// trusted checks what may run with the user's rights (B1): a path within the
// module's directory once links are followed, and from there up to that
// directory nothing that another user could change. It returns the resolved
// path. dir has its links resolved.
func trusted(dir, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("there is no file %s", path)
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if rel, ok := pathname.Rel(dir, real); !ok || rel == "." {
		return "", fmt.Errorf("%s is not inside the directory %s; copy the file there", real, dir)
	}
	info, err := os.Lstat(real)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", real)
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return "", err
		}
		if err := checkPrivate(at, info); err != nil {
			return "", err
		}
		if at == dir {
			return real, nil
		}
	}
}

// LocalDirs are the directories of a plan's local modules and of the toolbox, with
// links resolved.
// What lies there runs whenever the plan is mounted, so nothing that a tool is
// told to write should reach it.
func (o Options) LocalDirs(plan Plan) []string {
	dirs := o.Toolbox.dirs()
	for _, entry := range plan {
		if !isLocal(entry.Source) {
			continue
		}
		if dir, err := o.localDir(entry.Source); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
