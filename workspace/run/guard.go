package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
)

// Bounds of what is looked at before and after a command.
const (
	maxGuardedFiles = 256      // in a directory
	maxGuardedNames = 1 << 14  // in a directory, when only the names count
	maxGuardedBytes = 1 << 20  // of a file
	maxGuardNotes   = 20       // about one command
	maxNested       = 500      // directories among which repositories are looked for
	maxGuardHeld    = 64 << 20 // of all texts that are remembered of a root
)

// guard remembers, before a command, the files through which a project makes
// programs run: the configuration and the hooks of its repositories, and the agent's
// own directories. What a command changed there is put back (S3).
type guard struct {
	runner   *Runner
	mark     int // in the journal, when the command started
	programs func(config string) []string
	// names says that protected names are put back, too, and the configuration of
	// repositories that the command made.
	names bool
	roots []guardedRoot
	// asides is what was moved aside.
	asides []MovedAside
}

// guardedRoot is one root with what was there.
type guardedRoot struct {
	root  *rootfile.Dir
	repos []string // directories of repositories, from the root; absent ones too
	// named are the names that are links or files, which say where the repository is. What
	// they lead to is not looked at.
	named map[string]bool
	dirs  []string // further directories and files of which all counts
	files map[string]kept
	walk  rootResult
	// there are those of dirs that were there, included the files that a configuration of
	// git includes, held counts the bytes of the texts in files.
	there    map[string]bool
	included []string
	held     int
	// partly are the directories of which not all was looked at: what is not known of
	// them may have been there before.
	partly map[string]bool
	// tools are the files that the session's own tools changed meanwhile, by path.
	tools map[string]journal.Change
	// pins are the names that can be mounted read-only, and mounted says that they are.
	pins    []pinned
	mounted bool
}

// lookAtIt ends what is said of something that could not be put back.
const lookAtIt = " Look at it before git or the agent runs here again."

// newGuard remembers what is there. Some of it may be out of a command's reach; but what
// a sandbox keeps has ways around it, such as a link that is replaced, and comparing
// costs less than thinking of all of them. Of a command that the user was not asked about,
// the other protected names count too, and the repositories that it made (P5): seen is
// what a search found of them.
func (r *Runner) newGuard(unasked bool, seen searchResult) *guard {
	g := &guard{runner: r, mark: r.w.Journal.Mark(), programs: r.o.GitPrograms, names: unasked}
	for i := range r.w.Roots[:r.w.Own] {
		root := &r.w.Roots[i].Dir
		at := guardedRoot{
			root: root, repos: repositories(root), named: map[string]bool{}, dirs: slices.Clone(ownDirs[:]),
			files: map[string]kept{}, partly: map[string]bool{}, there: map[string]bool{}, walk: seen.roots[i],
		}
		at.dirs, at.repos = append(at.dirs, at.walk.names...), appendNew(at.repos, at.walk.repos)
		for _, repo := range at.repos {
			if isName(root, repo) {
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
		if unasked {
			at.rememberTargets()
			for _, repo := range at.repos {
				at.rememberConfigured(repo, g.programs)
			}
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

// isName reports a link, or a file, in the place of a directory.
func isName(r *rootfile.Dir, name string) bool {
	info, err := r.Handle.Lstat(filepath.FromSlash(name))
	return err == nil && !info.IsDir()
}

func isLink(r *rootfile.Dir, name string) bool {
	info, err := r.Handle.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// compare puts back what a command changed, and says so in one line for each file.
func (g *guard) compare() []string {
	var notes []string
	written, seen := g.runner.w.Journal.Written(g.mark), g.runner.search(searchQuery{names: g.names, first: g.walks()})
	for i := range g.roots {
		at := &g.roots[i]
		at.tools = written
		for _, repo := range at.repos {
			at.reach(repo)
			_, err := at.root.Handle.Lstat(filepath.FromSlash(repo))
			switch {
			case err != nil:
				continue // it is gone, or never was there
			case at.named[repo]:
				notes = append(notes, g.compareNamed(at, repo)...)
				continue
			case isLink(at.root, repo):
				notes = append(notes, at.abs(repo)+
					" was replaced by a link."+lookAtIt)
				continue
			}
			for _, name := range configNames {
				notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
			}
			for _, name := range wholeNames {
				notes = append(notes, g.compareDir(at, path.Join(repo, name))...)
			}
		}
		for _, name := range at.included {
			notes = append(notes, g.compareConfig(at, name)...)
		}
		now := seen.roots[i].after(&at.walk)
		if g.names {
			now.repos = appendNew(now.repos, repositories(at.root))
		}
		for _, repo := range now.repos {
			if !slices.Contains(at.repos, repo) {
				notes = append(notes, g.compareMade(at, repo)...)
			}
		}
		for _, dir := range appendNew(at.dirs, now.names) {
			notes = append(notes, g.compareDir(at, dir)...)
		}
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	if !seen.whole {
		notes = append(notes, notWhole+lookAtIt)
	}
	if more := len(notes) - maxGuardNotes; more > 0 {
		// The last ones of a directory, since a command can put names of no use before the rest.
		// What the user has to look at is kept above all.
		slices.SortStableFunc(notes, func(a, b string) int {
			return strings.Count(a, lookAtIt) - strings.Count(b, lookAtIt)
		})
		notes = append([]string{fmt.Sprintf("%d more files were put back or moved aside.", more)}, notes[more:]...)
	}
	return notes
}

// walks are what the search before the command found in each root.
func (g *guard) walks() []rootResult {
	walks := make([]rootResult, len(g.roots))
	for i := range g.roots {
		walks[i] = g.roots[i].walk
	}
	return walks
}

// compareNamed puts back the link or the file that says where a repository is. A
// directory in its place may hold anything, and stays.
func (g *guard) compareNamed(at *guardedRoot, repo string) []string {
	after, err := lookAt(at.root, repo)
	switch before := at.files[repo]; {
	case err != nil || before.unread || after.same(before):
		return nil
	case after.mode.IsDir():
		return []string{at.abs(repo) +
			" was replaced by a directory." + lookAtIt}
	default:
		return []string{g.restore(at, repo, before, true, "a command may not lead git elsewhere")}
	}
}

// compareMade takes from a repository that a command made what can make git run a
// program.
func (g *guard) compareMade(at *guardedRoot, repo string) (notes []string) {
	if isName(at.root, repo) {
		return []string{g.restore(at, repo, kept{}, false, "a command may not lead git elsewhere")}
	}
	for _, name := range configNames {
		notes = append(notes, g.compareConfig(at, path.Join(repo, name))...)
	}
	for _, name := range wholeNames {
		notes = append(notes, g.compareDir(at, path.Join(repo, name))...)
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
func (g *guard) compareConfig(at *guardedRoot, name string) []string {
	before, had := at.files[name]
	after, err := lookAt(at.root, name)
	if errors.Is(err, fs.ErrNotExist) && had && !at.taken(name) && isRepository(at.root, path.Dir(name)) {
		return []string{g.restore(at, name, before, true, "a command may not delete it")}
	}
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
func (g *guard) compareDir(at *guardedRoot, dir string) []string {
	var notes []string
	at.reach(dir)
	now, whole := []string{dir}, true // of a link: what it leads to is not of this directory
	if !isLink(at.root, dir) {
		now, whole = filesIn(at.root, dir, maxGuardedNames, !at.partly[dir])
	}
	if g.replacesAll(at, dir, now, whole) {
		notes = append(notes, g.restore(at, dir, kept{}, false, "a command may not change it"))
		now, whole = nil, true
	}
	unknown := false
	for _, name := range now {
		before, had := at.files[name]
		after, err := at.look(name)
		switch {
		case before.unread, err == nil && (had && after.same(before) || at.ours(name, after)):
		case !had && at.partly[dir] && name != dir:
			unknown = true // it may have been there before
		default:
			notes = append(notes, g.restore(at, name, before, had, "a command may not change it"))
		}
	}
	missing := g.compareMissing(at, dir, now, whole)
	if unknown && len(notes)+len(missing) > 0 {
		notes = append(notes, at.abs(dir)+" was changed, and cannot be put back as a whole."+lookAtIt)
	}
	return append(notes, missing...)
}

// replacesAll reports whether a directory is moved aside as one: there are more files in it
// than can be looked at, or it is new and holds many. Not where a tool of the session wrote
// there, nor where it is not known what there was.
func (g *guard) replacesAll(at *guardedRoot, dir string, now []string, whole bool) bool {
	if isName(at.root, dir) || at.partly[dir] || whole && (at.there[dir] || len(now) <= maxGuardNotes) {
		return false
	}
	for file := range at.tools {
		if file != at.abs(dir) && pathname.Contains(at.abs(dir), file) {
			return false
		}
	}
	return true
}

// compareMissing puts back the files of a directory that are not there now.
func (g *guard) compareMissing(at *guardedRoot, dir string, now []string, whole bool) (notes []string) {
	if !whole {
		return nil // what is missing may only not have been looked at
	}
	for name, before := range at.files {
		if pathname.Contains(dir, name) && !slices.Contains(now, name) && !before.unread && !at.taken(name) {
			notes = append(notes, g.restore(at, name, before, true, "a command may not delete it"))
		}
	}
	return notes
}
