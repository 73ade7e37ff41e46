package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may lead through, as in the
// kernel.
const maxLinks = 40

// trail is where a path leads: the directories it passes through and its last
// component, with every symbolic link followed.
type trail struct {
	// asked is the absolute, cleaned path that was followed.
	asked string
	// names are all absolute paths it went by: asked, what each link on the
	// way made of it, and last the real one. Secrets are looked for in all.
	names []string
	// steps are the real components that exist, the volume's root first.
	steps []step
	// missing are the components below the last step that do not exist.
	missing []string
}

type step struct {
	path string
	info fs.FileInfo
}

// follow resolves an absolute path by hand. A path that does not exist is no
// error; one that cannot be looked at, loops, or goes on below a file is.
func follow(asked string) (*trail, error) {
	t := &trail{asked: asked, names: []string{asked}}
	top := filepath.VolumeName(asked) + string(filepath.Separator)
	if err := t.restart(top); err != nil {
		return nil, err
	}
	pending := components(asked)
	for links := 0; len(pending) > 0; {
		name := pending[0]
		pending = pending[1:]
		if name == ".." {
			t.steps = t.steps[:max(len(t.steps)-1, 1)]
			continue
		}
		if !filepath.IsLocal(name) {
			return nil, &fs.PathError{Op: "open", Path: asked, Err: fs.ErrInvalid}
		}
		here := t.last()
		if !here.info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: asked, Err: syscall.ENOTDIR}
		}
		path := filepath.Join(here.path, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return t.end(append([]string{name}, pending...))
		}
		if err != nil {
			return nil, err
		}
		target, isLink, err := linkTarget(path, info)
		if err != nil {
			return nil, err
		}
		if !isLink {
			t.steps = append(t.steps, step{path, info})
			continue
		}
		if links++; links > maxLinks {
			return nil, &fs.PathError{Op: "open", Path: asked, Err: syscall.ELOOP}
		}
		if pending, err = t.detour(path, target, pending); err != nil {
			return nil, err
		}
	}
	return t.end(nil)
}

// followName is follow for the name itself: when a link has it, the trail ends
// at the link.
func followName(asked string) (*trail, error) {
	parent, name := filepath.Dir(asked), filepath.Base(asked)
	if parent == asked {
		return follow(asked)
	}
	t, err := follow(parent)
	if err != nil {
		return nil, err
	}
	t.asked = asked
	t.names = append(t.names, asked)
	if !t.exists() {
		return t.end(append(t.missing, name))
	}
	if !t.isDir() {
		return nil, &fs.PathError{Op: "open", Path: asked, Err: syscall.ENOTDIR}
	}
	path := filepath.Join(t.last().path, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.end([]string{name})
	case err != nil:
		return nil, err
	}
	t.steps = append(t.steps, step{path, info})
	return t.end(nil)
}

// detour takes a link's target in place of the link.
func (t *trail) detour(link, target string, pending []string) ([]string, error) {
	rest := filepath.Join(pending...)
	t.names = append(t.names, filepath.Join(link, rest))
	if filepath.IsAbs(target) {
		if err := t.restart(filepath.VolumeName(target) + string(filepath.Separator)); err != nil {
			return nil, err
		}
	}
	return append(components(target), pending...), nil
}

func (t *trail) restart(top string) error {
	info, err := os.Lstat(top)
	if err != nil {
		return err
	}
	t.steps = []step{{top, info}}
	return nil
}

func (t *trail) end(missing []string) (*trail, error) {
	if slices.Contains(missing, "..") {
		return nil, &fs.PathError{Op: "open", Path: t.asked, Err: fs.ErrNotExist}
	}
	t.missing = missing
	if len(t.steps) > 1 {
		t.steps[len(t.steps)-1].path = canonicalName(t.last().path)
	}
	t.names = append(t.names, t.real())
	return t, nil
}

func (t *trail) last() step { return t.steps[len(t.steps)-1] }

// exists reports whether the path was there.
func (t *trail) exists() bool { return len(t.missing) == 0 }

// isDir reports whether the path was a directory.
func (t *trail) isDir() bool { return t.exists() && t.last().info.IsDir() }

// real is the path with links followed as far as it exists.
func (t *trail) real() string {
	return filepath.Join(append([]string{t.last().path}, t.missing...)...)
}

// below returns the components from the deepest occurrence of dir to the end
// of the trail; ok is false when the trail does not pass through dir.
func (t *trail) below(dir fs.FileInfo) (rel []string, depth int, ok bool) {
	for i := len(t.steps) - 1; i >= 0; i-- {
		if !t.steps[i].info.IsDir() || !os.SameFile(t.steps[i].info, dir) {
			continue
		}
		for _, s := range t.steps[i+1:] {
			rel = append(rel, filepath.Base(s.path))
		}
		return append(rel, t.missing...), i, true
	}
	return nil, 0, false
}

// components splits a path into its names, without ".".
func components(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return slices.DeleteFunc(strings.FieldsFunc(path, func(r rune) bool {
		return r < 0x80 && os.IsPathSeparator(uint8(r))
	}), func(name string) bool { return name == "." })
}
