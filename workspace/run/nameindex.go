package run

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
)

// Bounds of one search of the session's directories.
const (
	maxIndexEntries = 500_000
	maxIndexTime    = 3 * time.Second
	maxIndexDepth   = 100
)

// publishedDir holds what others have published. A program that installs there changes
// protected names that no editor, agent or shell uses for the project. But git enters a repository
// there that is in the index of the project.
const publishedDir = "node_modules"

// dependencyDirs hold what others have published, too. What is named like a secret there is
// a fixture of tests, which a command that runs them must read.
var dependencyDirs = [...]string{publishedDir, "vendor", "site-packages", "bower_components"}

// gitData are the directories of a repository whose names come from the names of branches and
// of contents.
var gitData = [...]string{"objects", "refs", "logs", "lfs"}

// ownDirs are the agent's own directories in a project.
var ownDirs = [...]string{".acp-agent", ".agents"}

// notWhole is said of what could not be searched after a command.
const notWhole = "The session's directories hold too much to be searched for new files that make programs run, such as .envrc and .vscode: not all of them were looked at."

// nameIndex remembers what the names in the session's directories are: secrets, protected
// names, repositories. Searching again costs a look at each directory and a list of those
// that changed. The zero value is ready.
type nameIndex struct {
	mu    sync.Mutex
	dirs  map[string]*indexedDir
	round int // counts the searches
	// settled is how long a directory must have been left alone before it was listed, so
	// that a later change is certain to show in its time; 0 means settledAfter.
	settled time.Duration
}

// indexedDir is a directory as it was when it was listed.
type indexedDir struct {
	info    fs.FileInfo
	tracked time.Time // when the index of its repository was written
	read    time.Time
	entries int
	found   []indexedName
	below   []indexedBelow
	repo    bool
	bare    bool // git takes it for a repository itself
	modules bool // it has a file with the addresses of submodules
	round   int  // of the search that looked at it last
}

// nameKind is what a name counts as.
type nameKind struct {
	// secret marks every secret; hidden marks those kept from all commands, not only from commands
	// that only read.
	hidden, secret bool
	protected      bool
}

type indexedName struct {
	path string
	nameKind
}

// indexedBelow is a directory in another.
type indexedBelow struct {
	name, path string
	link       bool
	nameKind
}

const settledAfter = 2 * time.Second

// searchQuery is what a search is for.
type searchQuery struct {
	// secrets asks for the secrets that are hidden from every command, reading also for the
	// further ones that are hidden from a command that only reads.
	secrets, reading bool
	// names are protected names, and the repositories in a root.
	names bool
	// first is what a search before the command found: directories that the command made
	// unreadable since then are opened.
	first []rootResult
}

// searchResult is what one search found.
type searchResult struct {
	secrets []string
	// objects are the directories in which repositories keep the content of files; looked for with
	// what a command that only reads must not read.
	objects []string
	// addresses are what git keeps of addresses with a user and password; looked for with the same.
	addresses []string
	// roots are the protected names of each of the session's directories, in their order.
	roots []rootResult
	// whole says that all of the session's directories were searched.
	whole bool
}

// rootResult is what lies in a root, as far as it was searched.
type rootResult struct {
	// names are the protected names but for the ones that are looked at in ways of their own,
	// repos the repositories; both from the root, with slashes.
	names, repos []string
	// dirs are the directories that were searched; more says that there are others.
	dirs map[string]bool
	more bool
	// closed are directories that could not be listed.
	closed []string
}

// after is what a second search of a root found. Where the first one was not whole, what
// lies outside of its directories may always have been there.
func (f *rootResult) after(first *rootResult) rootResult {
	if !first.more {
		return *f
	}
	unknown := func(name string) bool { return !first.dirs[parentOf(name)] }
	of := *f
	of.names = slices.DeleteFunc(slices.Clone(f.names), unknown)
	of.repos = slices.DeleteFunc(slices.Clone(f.repos), unknown)
	return of
}

// parentOf is the directory of a name in a root, "" for the root itself.
func parentOf(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}

// search searches the session's directories, those near their tops first.
func (r *Runner) search(want searchQuery) searchResult {
	if want.secrets = want.secrets && r.w.Protection.Hidden != nil; !want.secrets && !want.names {
		return searchResult{whole: true, roots: make([]rootResult, r.w.Own)}
	}
	x := &r.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dirs == nil {
		x.dirs = map[string]*indexedDir{}
	}
	x.round++
	s := indexSearch{runner: r, want: want, left: maxIndexEntries, end: time.Now().Add(maxIndexTime)}
	var seen searchResult
	for i := range r.w.Roots[:r.w.Own] {
		root := &r.w.Roots[i].Dir
		s.top, s.first = root, nil
		if i < len(want.first) {
			s.first = &want.first[i]
		}
		s.root, s.at = root.Path, rootResult{dirs: map[string]bool{}}
		s.queue = append(s.queue[:0], searchStep{path: root.Path, secrets: want.secrets, names: want.names, repos: want.names})
		for len(s.queue)+len(s.made) > 0 && !s.stopped {
			if len(s.queue) == 0 {
				s.queue, s.made = s.made, nil
			}
			next := s.queue[0]
			s.queue = s.queue[1:]
			s.dir(next)
		}
		s.made = nil
		s.at.more = s.stopped
		seen.roots = append(seen.roots, s.at)
	}
	if want.reading && !s.stopped { // it went everywhere, so that directories without a mark of it are gone
		maps.DeleteFunc(x.dirs, func(_ string, d *indexedDir) bool { return d.round != x.round })
	}
	seen.secrets, seen.objects, seen.addresses, seen.whole = s.secrets, s.objects, s.addresses, !s.stopped
	return seen
}

// indexSearch is one search.
type indexSearch struct {
	runner  *Runner
	want    searchQuery
	left    int
	end     time.Time
	stopped bool
	queue   []searchStep
	made    []searchStep // directories that the search before did not know; they come last
	secrets []string
	objects []string
	// addresses are of the files that hold some now: they change without their directory.
	addresses []string
	top       *rootfile.Dir
	root      string
	at        rootResult  // of the root
	first     *rootResult // of the search before
}

// searchStep is a directory that is to be searched.
type searchStep struct {
	path, name string // name is from the root, "" for itself
	// tracked is when the index of the repository around it was written; git says that it
	// is a part of a repository's own data.
	tracked time.Time
	git     bool
	depth   int
	// secrets, names and repos say what it is searched for; repos are among the names, and by
	// themselves where others have published.
	secrets, names, repos bool
	// link says that the directory is a link, linked that it is one or lies below one. There no
	// link is followed, because links may lead to each other.
	linked, link bool
}

func (s *indexSearch) dir(at searchStep) {
	look := os.Lstat
	if at.link {
		look = os.Stat
	}
	info, err := look(at.path)
	if err == nil && s.opens(at.name) && restoreRights(s.top, cmp.Or(at.name, "."), listable) {
		info, err = look(at.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil, at.depth > maxIndexDepth, time.Now().After(s.end):
		s.stopped = true
		return
	}
	d, ok := s.known(at.path, info, at.tracked)
	if !ok {
		if d = s.list(at.path, info, at.tracked); d == nil {
			s.at.closed = append(s.at.closed, at.name)
			if at.secrets {
				s.secrets = append(s.secrets, at.path) // a file in it can be opened where its name is known
			}
			return
		}
		s.runner.index.dirs[at.path] = d
	}
	if s.left -= d.entries; s.left < 0 {
		s.stopped = true
		return
	}
	d.round = s.runner.index.round
	s.note(at, d)
	for _, below := range d.below {
		next := searchStep{path: below.path, name: s.rel(below.path), tracked: d.tracked, git: at.git || below.name == ".git", depth: at.depth + 1}
		next.link, next.linked = below.link, at.linked || below.link
		next.secrets = at.secrets && !below.link && !below.secret && !(at.git && slices.Contains(gitData[:], below.name)) &&
			(s.want.reading || !slices.Contains(dependencyDirs[:], below.name))
		next.repos = at.repos && !(below.link && (at.linked || !at.names)) && !(at.names && below.protected) && below.name != ".git"
		next.names = at.names && next.repos && below.name != publishedDir
		switch {
		case !next.secrets && !next.repos:
		case s.first != nil && !s.first.dirs[next.name]:
			s.made = append(s.made, next)
		default:
			s.queue = append(s.queue, next)
		}
	}
}

// opens reports whether a directory could be listed before the command, or was not there.
func (s *indexSearch) opens(name string) bool {
	return s.first != nil && !slices.Contains(s.first.closed, name)
}

// leadsToPublished reports whether a link leads to publishedDir or into one: by the name of the
// link, what is there is a part of the project.
func leadsToPublished(r *rootfile.Dir, name string) bool {
	return slices.Contains(strings.Split(leads(r, name), "/"), publishedDir)
}

// note adds to the result what a directory holds.
func (s *indexSearch) note(at searchStep, d *indexedDir) {
	for _, f := range d.found {
		if at.secrets && (f.hidden || s.want.reading && f.secret) {
			s.secrets = append(s.secrets, f.path)
		}
		if name := s.rel(f.path); at.names && f.protected && !slices.Contains(ownDirs[:], name) {
			s.at.names = append(s.at.names, name)
		}
	}
	if at.secrets && s.want.reading && d.bare {
		s.objects = append(s.objects, gitdir.Objects(at.path)...)
		s.addresses = append(s.addresses, gitdir.Addresses(at.path, HoldsAddress)...)
	}
	if at.secrets && s.want.reading && d.modules && HoldsAddress(filepath.Join(at.path, gitModules)) {
		s.addresses = append(s.addresses, filepath.Join(at.path, gitModules))
	}
	if !at.repos {
		return
	}
	s.at.dirs[at.name] = true
	if d.repo && at.name != "" {
		s.at.repos = append(s.at.repos, at.name+"/.git")
	}
	if d.bare {
		s.at.repos = append(s.at.repos, cmp.Or(at.name, "."))
	}
}

func (s *indexSearch) rel(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, s.root), string(filepath.Separator)))
}

// known returns what is remembered of a directory that has not changed.
func (s *indexSearch) known(path string, info fs.FileInfo, tracked time.Time) (*indexedDir, bool) {
	d, ok := s.runner.index.dirs[path]
	if ok && d.repo {
		tracked = indexTime(path)
	}
	same := ok && os.SameFile(d.info, info) && rootfile.Changed(d.info).Equal(rootfile.Changed(info)) && d.tracked.Equal(tracked)
	return d, same && d.read.Sub(rootfile.Changed(info)) >= cmp.Or(s.runner.index.settled, settledAfter)
}

// indexTime is when the index of the repository in a directory was written.
func indexTime(dir string) time.Time {
	info, err := os.Lstat(filepath.Join(dir, ".git", "index"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// list returns what is in a directory; nil where that cannot be known.
func (s *indexSearch) list(path string, info fs.FileInfo, tracked time.Time) *indexedDir {
	d := &indexedDir{info: info, tracked: tracked, read: time.Now()}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	d.entries = len(entries)
	d.repo = slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == ".git" })
	d.bare = bare(entries)
	d.modules = slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == gitModules })
	if d.repo {
		d.tracked = indexTime(path)
	}
	for _, entry := range entries {
		abs := filepath.Join(path, entry.Name())
		kind := s.runner.kindOf(abs)
		// No command that only reads needs what another system than git keeps of the content of files.
		kind.secret = kind.secret || pathname.KeepsContent(filepath.Base(path), entry.Name())
		if kind != (nameKind{}) {
			d.found = append(d.found, indexedName{abs, kind})
		}
		link := entry.Type()&fs.ModeSymlink != 0 && leadsToPublished(s.top, s.rel(abs))
		if entry.IsDir() || link {
			d.below = append(d.below, indexedBelow{entry.Name(), abs, link, kind})
		}
	}
	return d
}

// kindOf is what a name counts as. A repository is none of the protected names: its hooks
// and its configuration are.
func (r *Runner) kindOf(abs string) nameKind {
	hidden := r.w.Protection.Hidden != nil && r.w.Protection.Hidden(abs)
	return nameKind{
		hidden: hidden, secret: hidden || r.w.Protection.Secret(abs),
		protected: filepath.Base(abs) != ".git" && r.w.Protection.Protected(abs),
	}
}
