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
)

// Bounds of what is looked at before and after a command.
const (
	maxGuardedFiles = 256     // in a directory
	maxGuardedNames = 1 << 14 // in a directory, when only the names count
	maxGuardedBytes = 1 << 20 // of a file
	maxGuardNotes   = 20      // about one command
	maxNested       = 500     // directories of a root among which repositories are looked for
)

// guard remembers, before a command, the files through which a project makes
// programs run: the configuration and the hooks of its repositories, and the agent's
// own directories. What a command
// changed there is put back (S3).
type guard struct {
	programs func(config string) []string
	// protected, when set, names what else in a root is put back.
	protected func(abs string) bool
	roots     []guarded
}

// guarded is one root with what was there.
type guarded struct {
	root  *root
	repos []string // directories of repositories, from the root; absent ones too
	// named are those that are links or files, which say where the repository is. What
	// they lead to is not looked at.
	named map[string]bool
	dirs  []string // further directories and files of which all counts
	files map[string]kept
	cut   map[string]bool // directories that hold more than was remembered
	walk  *found
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
}

func (k kept) same(other kept) bool {
	return k.mode == other.mode && k.link == other.link && bytes.Equal(k.text, other.text) &&
		k.opaque == other.opaque && (!k.opaque || k.size == other.size && k.time.Equal(other.time))
}

// lookAtIt ends what is said of something that could not be put back.
const lookAtIt = " Look at it before git or the agent runs here again."

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
	return k, err
}

// guard remembers what is there. Some of it may be out of a command's reach; but what
// a wall keeps has ways around it, such as a link that is replaced, and comparing
// costs less than thinking of all of them. Of a command that nobody was asked about,
// the other protected names count too, and the repositories that it made (P5).
func (w *Workspace) guard(unasked bool) *guard {
	g := &guard{programs: w.o.GitPrograms}
	if unasked {
		g.protected = w.o.Protected
	}
	for _, r := range w.fixed[:w.session] {
		at := guarded{root: r, repos: repositories(r), named: map[string]bool{}, dirs: []string{".acp-agent", ".agents"}, files: map[string]kept{}, cut: map[string]bool{}}
		at.walk = g.walkIn(r, nil)
		at.dirs, at.repos = append(at.dirs, at.walk.names...), appendNew(at.repos, at.walk.repos)
		for _, repo := range at.repos {
			if isName(r, repo) {
				at.named[repo] = true
				at.remember(repo)
				continue
			}
			for _, name := range configNames {
				at.remember(path.Join(repo, name))
			}
			for _, name := range wholeNames {
				at.rememberAll(path.Join(repo, name))
			}
		}
		for _, dir := range at.dirs {
			at.rememberAll(dir)
		}
		g.roots = append(g.roots, at)
	}
	return g
}

// configNames are the files of a repository that hold its configuration. Of wholeNames
// nothing may change: the hooks, and what says that the configuration is elsewhere.
var (
	configNames = [...]string{"config", "config.worktree"}
	wholeNames  = [...]string{"hooks", "commondir"}
)

// repositories are the repository of a root, whether it is there or not, those of
// the directories in it, and those of its submodules.
func repositories(r *root) []string {
	repos := []string{".git"}
	for _, dir := range []string{".", ".git/modules"} {
		f, err := r.handle.Open(dir)
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(maxGuardedNames)
		f.Close()
		entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !entry.IsDir() || entry.Name() == ".git" })
		for _, entry := range entries[:min(maxNested, len(entries))] {
			repo := path.Join(dir, entry.Name())
			if dir == "." {
				repo = path.Join(repo, ".git")
			}
			if info, err := r.handle.Lstat(filepath.FromSlash(path.Join(repo, "HEAD"))); err == nil && info.Mode().IsRegular() || isName(r, repo) {
				repos = append(repos, repo)
			}
		}
	}
	return repos
}

// filesIn lists the files beneath a directory; samples of hooks are never run.
func filesIn(r *root, dir string, most int) []string {
	var names []string
	// What cannot be looked at cannot be put back either.
	_ = fs.WalkDir(r.handle.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(names) >= most:
			return fs.SkipAll
		case !d.IsDir() && !strings.HasSuffix(name, ".sample"):
			names = append(names, name)
		}
		return nil
	})
	return names
}

func (g *guarded) remember(name string) {
	if k, err := lookAt(g.root, name); err == nil {
		g.files[name] = k
	}
}

// rememberAll remembers all files beneath a directory, or the link that stands for it.
func (g *guarded) rememberAll(dir string) {
	if isLink(g.root, dir) {
		g.remember(dir)
		return
	}
	names := filesIn(g.root, dir, maxGuardedFiles+1)
	if len(names) > maxGuardedFiles {
		g.cut[dir], names = true, names[:maxGuardedFiles]
	}
	for _, name := range names {
		g.remember(name)
	}
}

// isName reports a link, or a file, in the place of a directory.
func isName(r *root, name string) bool {
	info, err := r.handle.Lstat(filepath.FromSlash(name))
	return err == nil && !info.IsDir()
}

func isLink(r *root, name string) bool {
	info, err := r.handle.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// compare puts back what a command changed, and says so in one line for each file.
func (g *guard) compare() []string {
	var notes []string
	for i := range g.roots {
		at := &g.roots[i]
		for _, repo := range at.repos {
			_, err := at.root.handle.Lstat(filepath.FromSlash(repo))
			switch {
			case err != nil:
				continue // it is gone, or never was there
			case at.named[repo]:
				notes = append(notes, at.compareNamed(repo)...)
				continue
			case isLink(at.root, repo):
				notes = append(notes, filepath.Join(at.root.path, filepath.FromSlash(repo))+
					" was replaced by a link."+lookAtIt)
				continue
			}
			for _, name := range configNames {
				notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
			}
			for _, name := range wholeNames {
				notes = append(notes, at.compareDir(path.Join(repo, name))...)
			}
		}
		now := g.walkIn(at.root, at.walk)
		for _, repo := range now.repos {
			if !slices.Contains(at.repos, repo) {
				notes = append(notes, g.compareMade(at, repo)...)
			}
		}
		for _, dir := range appendNew(at.dirs, now.names) {
			notes = append(notes, at.compareDir(dir)...)
		}
	}
	if more := len(notes) - maxGuardNotes; more > 0 {
		// The last ones of a directory, since a command can put names of no use before the rest.
		// What a person has to look at is kept above all.
		slices.SortStableFunc(notes, func(a, b string) int {
			return strings.Count(a, lookAtIt) - strings.Count(b, lookAtIt)
		})
		notes = append([]string{fmt.Sprintf("%d more files were put back or taken away.", more)}, notes[more:]...)
	}
	return notes
}

// compareNamed puts back the link or the file that says where a repository is. A
// directory in its place may hold anything, and stays.
func (at *guarded) compareNamed(repo string) []string {
	after, err := lookAt(at.root, repo)
	switch before := at.files[repo]; {
	case err != nil || after.same(before):
		return nil
	case after.mode.IsDir():
		return []string{filepath.Join(at.root.path, filepath.FromSlash(repo)) +
			" was replaced by a directory." + lookAtIt}
	default:
		return []string{at.restore(repo, before, true, "a command may not lead git elsewhere")}
	}
}

// compareMade takes from a repository that a command made what can make git run a
// program.
func (g *guard) compareMade(at *guarded, repo string) (notes []string) {
	if isName(at.root, repo) {
		return []string{at.restore(repo, kept{}, false, "a command may not lead git elsewhere")}
	}
	for _, name := range configNames {
		notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
	}
	for _, name := range wholeNames {
		notes = append(notes, at.compareDir(path.Join(repo, name))...)
	}
	return notes
}

func appendNew(list, more []string) []string {
	list = slices.Clip(list)
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// compareConfig puts a repository's configuration back when other programs would be
// run by it than before. Other changes stay.
func (g *guard) compareConfig(at *guarded, name string) []string {
	before, had := at.files[name]
	after, err := lookAt(at.root, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && had && after.same(before) {
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
	var now []string
	if isLink(at.root, dir) {
		now = []string{dir} // what it leads to is not of this directory
	} else {
		now = filesIn(at.root, dir, maxGuardedNames)
	}
	for _, name := range now {
		before, had := at.files[name]
		if !had && at.cut[dir] {
			continue // it may always have been there
		}
		if after, err := lookAt(at.root, name); err == nil && had && after.same(before) {
			continue
		}
		notes = append(notes, at.restore(name, before, had, "a command may not change it"))
	}
	if len(now) >= maxGuardedNames {
		return notes // what is missing may only not have been looked at
	}
	for name, before := range at.files {
		if (name == dir || strings.HasPrefix(name, dir+"/")) && !slices.Contains(now, name) {
			notes = append(notes, at.restore(name, before, true, "a command may not delete it"))
		}
	}
	return notes
}

// restore makes a file what it was, or takes away one that was not there.
func (at *guarded) restore(name string, before kept, had bool, why string) string {
	shown := filepath.Join(at.root.path, filepath.FromSlash(name))
	local := filepath.FromSlash(name)
	if before.opaque {
		return fmt.Sprintf("%s was changed and cannot be put back: %s."+lookAtIt, shown, why)
	}
	err := at.root.handle.RemoveAll(local)
	if err == nil && had {
		if err = at.root.handle.MkdirAll(filepath.Dir(local), 0o755); err == nil {
			err = writeNew(at.root, local, before)
		}
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be put back (%v): %s."+lookAtIt, shown, err, why)
	case had:
		return fmt.Sprintf("%s was put back as it was: %s.", shown, why)
	}
	return fmt.Sprintf("%s was taken away again: %s.", shown, why)
}

func writeNew(r *root, name string, before kept) error {
	if before.link != "" {
		return r.handle.Symlink(before.link, name)
	}
	mode := before.mode.Perm()
	f, err := r.handle.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(before.text)
	return errors.Join(err, f.Chmod(mode), f.Close())
}
