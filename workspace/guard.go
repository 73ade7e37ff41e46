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
	"time"

	"acp-agent/workspace/journal"
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
	w        *Workspace
	mark     int // in the journal, when the command began
	programs func(config string) []string
	// protected, when set, names what else at the top of a root is put back.
	protected func(abs string) bool
	roots     []guarded
}

// guarded is one root with what was there.
type guarded struct {
	root  *root
	repos []string        // directories of repositories, from the root; absent ones too
	links map[string]bool // those that are links, which are left alone
	dirs  []string        // further directories and files of which all counts
	files map[string]kept
	// partly are those of dirs, and the directories of hooks, that were not looked at
	// as a whole: what is not known of them may have been there before.
	partly map[string]bool
	// tools are the files that the session's own tools changed meanwhile, by path.
	tools map[string]journal.Change
}

// kept is a file as it was. Of a link only the link counts, and what is no file of
// settings is known by its size and time alone.
type kept struct {
	mode   fs.FileMode
	text   []byte
	link   string
	opaque bool
	size   int64
	time   time.Time
	// unread is a file of which nothing could be learned.
	unread bool
}

func (k kept) same(other kept) bool {
	return k.mode == other.mode && k.link == other.link && bytes.Equal(k.text, other.text) &&
		k.opaque == other.opaque && (!k.opaque || k.size == other.size && k.time.Equal(other.time))
}

// lookAt reads a file as it is now. It follows no link that has the name.
func lookAt(r *root, name string) (kept, error) {
	local := filepath.FromSlash(name)
	info, err := r.handle.Lstat(local)
	if err != nil {
		return kept{}, err
	}
	k := kept{mode: info.Mode()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		k.link, err = r.handle.Readlink(local)
		return k, err
	case !info.Mode().IsRegular() || info.Size() > maxGuardedBytes:
		k.opaque, k.size, k.time = true, info.Size(), info.ModTime()
		return k, nil
	}
	f, err := r.handle.OpenFile(local, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	k.text, err = io.ReadAll(io.LimitReader(f, maxGuardedBytes+1))
	if len(k.text) > maxGuardedBytes { // it grew
		k.text, k.opaque, k.size, k.time = nil, true, info.Size(), info.ModTime()
	}
	return k, err
}

// guard remembers what is there. Some of it may be out of a command's reach; but what
// a wall keeps has ways around it, such as a link that is replaced, and comparing
// costs less than thinking of all of them. Of a command that nobody was asked about,
// the other protected names at the top of the roots count too (P5).
func (w *Workspace) guard(unasked bool) *guard {
	g := &guard{w: w, mark: w.journal.Mark(), programs: w.o.GitPrograms}
	if unasked {
		g.protected = w.o.Protected
	}
	for _, r := range w.fixed[:w.session] {
		at := guarded{
			root: r, repos: repositories(r), links: map[string]bool{}, dirs: []string{".acp-agent", ".agents"},
			files: map[string]kept{}, partly: map[string]bool{},
		}
		at.dirs = append(at.dirs, g.guardedNames(r)...)
		for _, repo := range at.repos {
			if isLink(r, repo) {
				at.links[repo] = true
				continue
			}
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

// guardedNames are the protected names at the top of a root, but for those that are
// looked at in ways of their own.
func (g *guard) guardedNames(r *root) []string {
	if g.protected == nil {
		return nil
	}
	f, err := r.handle.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1) // what cannot be listed cannot be put back either
	var names []string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == ".git", name == ".acp-agent", name == ".agents":
		case g.protected(filepath.Join(r.path, name)):
			names = append(names, name)
		}
	}
	return names
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

// filesIn lists the files beneath a directory; samples of hooks are never run. whole
// says that these are all.
func filesIn(r *root, dir string) (names []string, whole bool) {
	whole = true
	// What cannot be looked at cannot be put back either.
	_ = fs.WalkDir(r.handle.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			whole = whole && errors.Is(err, fs.ErrNotExist)
			return fs.SkipDir
		case len(names) >= maxGuardedFiles:
			whole = false
			return fs.SkipAll
		case !d.IsDir() && !strings.HasSuffix(name, ".sample"):
			names = append(names, name)
		}
		return nil
	})
	return names, whole
}

func (g *guarded) remember(name string) {
	switch k, err := lookAt(g.root, name); {
	case err == nil:
		g.files[name] = k
	case !errors.Is(err, fs.ErrNotExist):
		g.files[name] = kept{unread: true}
	}
}

// rememberAll remembers all files beneath a directory, or the link that stands for it.
func (g *guarded) rememberAll(dir string) {
	if isLink(g.root, dir) {
		g.remember(dir)
		return
	}
	names, whole := filesIn(g.root, dir)
	for _, name := range names {
		g.remember(name)
	}
	g.partly[dir] = !whole
}

func isLink(r *root, name string) bool {
	info, err := r.handle.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// compare puts back what a command changed, and says so in one line for each file.
func (g *guard) compare() []string {
	var notes []string
	written := g.w.journal.Written(g.mark)
	for i := range g.roots {
		at := &g.roots[i]
		at.tools = written
		for _, repo := range at.repos {
			_, err := at.root.handle.Lstat(filepath.FromSlash(repo))
			switch {
			case at.links[repo], err != nil:
				continue // a link of the person's; or it is gone, or never was there
			case isLink(at.root, repo):
				notes = append(notes, filepath.Join(at.root.path, filepath.FromSlash(repo))+
					" was replaced by a link. Look at it before git or the agent runs here again.")
				continue
			}
			for _, name := range configNames {
				notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
			}
			notes = append(notes, g.compareDir(at, path.Join(repo, "hooks"))...)
		}
		dirs := at.dirs
		for _, name := range g.guardedNames(at.root) {
			if !slices.Contains(dirs, name) {
				dirs = append(slices.Clip(dirs), name)
			}
		}
		for _, dir := range dirs {
			notes = append(notes, g.compareDir(at, dir)...)
		}
	}
	return notes
}

// compareConfig puts a repository's configuration back when other programs would be
// run by it than before. Other changes stay.
func (g *guard) compareConfig(at *guarded, name string) []string {
	before, had := at.files[name]
	after, err := lookAt(at.root, name)
	if errors.Is(err, fs.ErrNotExist) || before.unread || err == nil && (had && after.same(before) || at.ours(name, after)) {
		return nil // gone, and the repository with it; or as it was
	}
	plain := err == nil && after.mode.IsRegular() && !after.opaque
	changed := difference(g.programs(string(before.text)), g.programs(string(after.text)))
	if plain && len(changed) == 0 {
		return nil
	}
	what := "it was replaced by something that is no such file"
	if plain {
		what = "the command changed " + strings.Join(changed, ", ") + ", which can make git run a program"
	}
	return []string{g.restore(at, name, before, had, what)}
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
func (g *guard) compareDir(at *guarded, dir string) []string {
	var notes []string
	now, whole := []string{dir}, true // of a link: what it leads to is not of this directory
	if !isLink(at.root, dir) {
		now, whole = filesIn(at.root, dir)
	}
	unknown := false
	for _, name := range now {
		before, had := at.files[name]
		after, err := lookAt(at.root, name)
		switch {
		case before.unread, err == nil && (had && after.same(before) || at.ours(name, after)):
		case !had && at.partly[dir] && name != dir:
			unknown = true // it may have been there before
		default:
			notes = append(notes, g.restore(at, name, before, had, "a command may not change it"))
		}
	}
	if unknown {
		notes = append(notes, fmt.Sprintf("%s was changed, and cannot be put back as a whole. Look at it before git or the agent runs here again.",
			filepath.Join(at.root.path, filepath.FromSlash(dir))))
	}
	if !whole {
		return notes // what is missing may only not have been looked at
	}
	for name, before := range at.files {
		if (name == dir || strings.HasPrefix(name, dir+"/")) && !slices.Contains(now, name) && !before.unread && !at.taken(name) {
			notes = append(notes, g.restore(at, name, before, true, "a command may not delete it"))
		}
	}
	return notes
}
