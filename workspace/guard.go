package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what is looked at before and after a command.
const (
	maxGuardedFiles = 256     // in a directory
	maxGuardedBytes = 1 << 20 // of a file
	maxNested       = 200     // entries of a root among which repositories are looked for
)

// guard remembers, before a command, the files through which a project makes
// programs run: the configuration and the hooks of its repositories, and the agent's
// own directories. What a command
// changed there is put back (S3).
type guard struct {
	programs func(config string) []string
	roots    []guarded
}

// guarded is one root with what was there.
type guarded struct {
	root  *root
	repos []string        // directories of repositories, from the root; absent ones too
	real  map[string]bool // those that are directories and no links
	dirs  []string        // further directories of which every file counts
	files map[string][]byte
}

// guard remembers what is there. Some of it may be out of a command's reach; but what
// a wall keeps has ways around it, such as a link that is replaced, and comparing
// costs less than thinking of all of them.
func (w *Workspace) guard() *guard {
	g := &guard{programs: w.o.GitPrograms}
	for _, r := range w.fixed[:w.session] {
		at := guarded{root: r, repos: repositories(r), real: map[string]bool{}, dirs: []string{".acp-agent", ".agents"}, files: map[string][]byte{}}
		for _, repo := range at.repos {
			info, err := r.handle.Lstat(filepath.FromSlash(repo))
			at.real[repo] = err == nil && info.IsDir()
			for _, name := range configNames {
				at.remember(path.Join(repo, name))
			}
			at.rememberAll(path.Join(repo, "hooks"))
		}
		for _, dir := range at.dirs {
			at.rememberAll(dir)
		}
		g.roots = append(g.roots, at)
	}
	return g
}

// configNames are the files of a repository that hold its configuration.
var configNames = [...]string{"config", "config.worktree"}

// repositories are the repository of a root, whether it is there or not, those of
// the directories in it, and those of its submodules.
func repositories(r *root) []string {
	repos := []string{".git"}
	for _, dir := range []string{".", ".git/modules"} {
		f, err := r.handle.Open(dir)
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(maxNested)
		f.Close()
		for _, entry := range entries {
			repo := path.Join(dir, entry.Name())
			if dir == "." {
				repo = path.Join(repo, ".git")
			}
			if info, err := r.handle.Lstat(filepath.FromSlash(path.Join(repo, "HEAD"))); entry.IsDir() && err == nil && info.Mode().IsRegular() {
				repos = append(repos, repo)
			}
		}
	}
	return repos
}

// filesIn lists the files beneath a directory; samples of hooks are never run.
func filesIn(r *root, dir string) []string {
	var names []string
	// What cannot be looked at cannot be put back either.
	_ = fs.WalkDir(r.handle.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(names) >= maxGuardedFiles:
			return fs.SkipAll
		case !d.IsDir() && !strings.HasSuffix(name, ".sample"):
			names = append(names, name)
		}
		return nil
	})
	return names
}

func (g *guarded) remember(name string) {
	if text, err := readGuarded(g.root, name); err == nil {
		g.files[name] = text
	}
}

func (g *guarded) rememberAll(dir string) {
	for _, name := range filesIn(g.root, dir) {
		g.remember(name)
	}
}

// readGuarded reads a file of a root, never through a link that leads out of it.
func readGuarded(r *root, name string) ([]byte, error) {
	info, err := r.handle.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxGuardedBytes {
		return nil, errors.New("not a file of settings")
	}
	f, err := r.handle.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxGuardedBytes+1))
}

// compare puts back what a command changed, and says so in one line for each file.
func (g *guard) compare() []string {
	var notes []string
	for i := range g.roots {
		at := &g.roots[i]
		for _, repo := range at.repos {
			info, err := at.root.handle.Lstat(filepath.FromSlash(repo))
			switch {
			case err != nil:
				continue // it is gone, or never was there
			case info.Mode()&fs.ModeSymlink != 0 && at.real[repo]:
				notes = append(notes, filepath.Join(at.root.path, filepath.FromSlash(repo))+
					" was replaced by a link. Look at it before git or the agent runs here again.")
				continue
			}
			for _, name := range configNames {
				notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
			}
			notes = append(notes, at.compareDir(path.Join(repo, "hooks"))...)
		}
		for _, dir := range at.dirs {
			notes = append(notes, at.compareDir(dir)...)
		}
	}
	return notes
}

// compareConfig puts a repository's configuration back when other programs would be
// run by it than before. Other changes stay.
func (g *guard) compareConfig(at *guarded, name string) []string {
	before, had := at.files[name]
	after, err := readGuarded(at.root, name)
	if err != nil {
		if _, serr := at.root.handle.Lstat(filepath.FromSlash(name)); serr != nil {
			return nil // gone, and the repository with it
		}
	}
	if err == nil && bytes.Equal(before, after) {
		return nil
	}
	changed := difference(g.programs(string(before)), g.programs(string(after)))
	if err == nil && len(changed) == 0 {
		return nil
	}
	what := "it was replaced by something that is no such file"
	if err == nil {
		what = "the command changed " + strings.Join(changed, ", ") + ", which can make git run a program"
	}
	return []string{at.restore(name, before, had, what)}
}

// difference lists the keys of the settings, "key=value", that are not in both.
func difference(before, after []string) []string {
	var keys []string
	add := func(from, other []string) {
		for _, setting := range from {
			key, _, _ := strings.Cut(setting, "=")
			if !slices.Contains(other, setting) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	add(after, before)
	add(before, after)
	return keys
}

// compareDir puts every file of a directory back as it was.
func (at *guarded) compareDir(dir string) []string {
	var notes []string
	now := filesIn(at.root, dir)
	for _, name := range now {
		before, had := at.files[name]
		if after, err := readGuarded(at.root, name); err == nil && had && bytes.Equal(before, after) {
			continue
		}
		notes = append(notes, at.restore(name, before, had, "a command may not change it"))
	}
	if len(now) >= maxGuardedFiles {
		return notes // what is missing may only not have been looked at
	}
	for name, before := range at.files {
		if strings.HasPrefix(name, dir+"/") && !slices.Contains(now, name) {
			notes = append(notes, at.restore(name, before, true, "a command may not delete it"))
		}
	}
	return notes
}

// restore makes a file what it was, or takes away one that was not there.
func (at *guarded) restore(name string, before []byte, had bool, why string) string {
	shown := filepath.Join(at.root.path, filepath.FromSlash(name))
	local := filepath.FromSlash(name)
	err := at.root.handle.RemoveAll(local)
	if err == nil && had {
		if err = at.root.handle.MkdirAll(filepath.Dir(local), 0o755); err == nil {
			err = writeNew(at.root, local, before)
		}
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be put back (%v): %s. Look at it before git or the agent runs here again.", shown, err, why)
	case had:
		return fmt.Sprintf("%s was put back as it was: %s.", shown, why)
	}
	return fmt.Sprintf("%s was taken away again: %s.", shown, why)
}

func writeNew(r *root, name string, text []byte) error {
	mode := os.FileMode(0o644)
	if strings.Contains(filepath.ToSlash(name), "/hooks/") {
		mode = 0o755
	}
	f, err := r.handle.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
