package run

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"

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
	outer bool     // it is the repository itself, see outerRepositories
	repos []string // directories of repositories, from the root; absent ones too
	// pointers are the repos that are links or files, which say where the repository is. What
	// they lead to is not looked at.
	pointers map[string]bool
	// links are the links in repositories in the place of files that git writes.
	links []string
	dirs  []string // further directories and files in which no change is allowed
	files map[string]kept
	walk  rootResult
	// there says of each of dirs whether it was there.
	there map[string]bool
	// included are the files that a configuration of git includes.
	included []string
	held     int // bytes of the texts in files
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

// newGuard remembers what is there. Some of it may be out of a command's reach; but there are
// ways around a sandbox's protection, such as a link that is replaced, and to compare costs
// less than to think of all of them. For a command that the user was not asked about, the
// guard also covers the other protected names and the repositories that the command makes
// (P5): seen is what a search found of them.
func (r *Runner) newGuard(unasked bool, seen searchResult) *guard {
	g := &guard{runner: r, mark: r.w.Journal.Mark(), programs: r.o.GitPrograms, names: unasked}
	for i := range r.w.Roots[:r.w.Own] {
		root := &r.w.Roots[i].Dir
		at := guardedRoot{
			root: root, repos: repositories(root), pointers: map[string]bool{}, dirs: slices.Clone(ownDirs[:]),
			files: map[string]kept{}, partly: map[string]bool{}, there: map[string]bool{}, walk: seen.roots[i],
		}
		at.dirs, at.repos = append(at.dirs, at.walk.names...), appendNew(at.repos, at.walk.repos)
		g.add(at)
	}
	for _, dir := range r.outer.of(r.w.Roots[:r.w.Own]) {
		g.add(guardedRoot{
			root: dir, outer: true, repos: append([]string{"."}, repositoriesOf(dir, ".")...), pointers: map[string]bool{},
			files: map[string]kept{}, partly: map[string]bool{}, there: map[string]bool{},
		})
	}
	return g
}

// add remembers what there is of a root.
func (g *guard) add(at guardedRoot) {
	for _, repo := range at.repos {
		if isPointer(at.root, repo) {
			at.pointers[repo] = true
			at.remember(repo)
			continue
		}
		for _, name := range g.settings() {
			at.remember(path.Join(repo, name))
		}
		for _, name := range wholeNames {
			at.rememberAll(path.Join(repo, name))
		}
		if g.names {
			at.links = append(at.links, linksIn(at.root, repo)...)
		}
	}
	for _, dir := range at.dirs {
		at.rememberAll(dir)
	}
	if g.names {
		at.rememberTargets()
		for _, repo := range at.repos {
			at.rememberConfigured(repo, g.programs)
		}
	}
	g.roots = append(g.roots, at)
}

// madeSince are the repositories and the protected names that a root has now and may not have had
// before, by a second search of the session's directories.
func (at *guardedRoot) madeSince(seen rootResult, names bool) rootResult {
	now := seen.after(&at.walk)
	switch {
	case names && at.outer:
		now.repos = repositoriesOf(at.root, ".")
	case names:
		now.repos = appendNew(now.repos, repositories(at.root))
	}
	return now
}

// configNames are the files of a repository that hold its configuration. Of wholeNames
// nothing may change: the hooks, and what says that the configuration is elsewhere.
var (
	configNames = [...]string{"config", "config.worktree"}
	wholeNames  = [...]string{"hooks", "commondir"}
)

// isPointer reports whether a link, or a file, stands in the place of a directory.
func isPointer(r *rootfile.Dir, name string) bool {
	info, err := r.Handle.Lstat(filepath.FromSlash(name))
	return err == nil && !info.IsDir()
}

func isLink(r *rootfile.Dir, name string) bool {
	info, err := r.Handle.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
