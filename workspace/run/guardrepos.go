package run

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
)

// repositories are the repository of a root, whether it is there or not, the repositories of the
// directories in it and of its submodules, however deep their names are, and the
// further working trees of it.
func repositories(r *rootfile.Dir) []string {
	repos := []string{".git"}
	for _, dir := range directoriesIn(r, ".") {
		repo := path.Join(dir, ".git")
		if dir != ".git" && (isRepository(r, repo) || isPointer(r, repo)) {
			repos = append(repos, repo)
		}
	}
	return append(repos, repositoriesOf(r, ".git")...)
}

// repositoriesOf are the directories that a repository keeps for its further working trees and
// for its submodules.
func repositoriesOf(r *rootfile.Dir, repo string) []string {
	return append(directoriesIn(r, path.Join(repo, "worktrees")), submodules(r, path.Join(repo, "modules"))...)
}

// linksIn are the links among the files of a repository that git writes itself, such as its logs:
// git writes what they lead to.
func linksIn(r *rootfile.Dir, repo string) (links []string) {
	left := maxGuardedNames
	for _, dir := range []string{repo, path.Join(repo, "logs")} {
		_ = fs.WalkDir(r.Handle.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
			left--
			switch {
			case err != nil:
				return nil // there are none that can be seen
			case left < 0:
				return fs.SkipAll
			case entry.Type()&fs.ModeSymlink != 0:
				links = append(links, name)
			case entry.IsDir() && dir == repo && name != repo:
				return fs.SkipDir
			}
			return nil
		})
	}
	return links
}

// Files of a rebase that stopped, or of commits that were being picked, in a repository. Git runs
// programs by them when the user goes on: the commands in the list of what is left, and
// git-merge-NAME of a strategy, which may be a path.
const (
	rebaseTodo     = "rebase-merge/git-rebase-todo"
	rebaseStrategy = "rebase-merge/strategy"
	pickOptions    = "sequencer/opts"
)

// strategies are the strategies that git has built in.
var strategies = []string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}

// settings are the files of a repository that may change as long as git runs no other programs by
// them. A command that was asked about may leave a rebase with commands in it, for the user has
// read them.
func (g *guard) settings() []string {
	if g.names {
		return append(configNames[:len(configNames):len(configNames)], rebaseTodo, rebaseStrategy, pickOptions)
	}
	return configNames[:]
}

// programsIn are the programs that git runs by what a file says.
func (g *guard) programsIn(name string, text []byte) []string {
	switch {
	case strings.HasSuffix("/"+name, "/"+rebaseTodo):
		return commandsOfRebase(string(text))
	case strings.HasSuffix("/"+name, "/"+rebaseStrategy):
		return strategyOfRebase(string(text))
	case strings.HasSuffix("/"+name, "/"+pickOptions):
		return slices.DeleteFunc(g.programs(string(text)), func(setting string) bool {
			_, value, _ := strings.Cut(setting, "=")
			return slices.Contains(strategies, strings.TrimSpace(value))
		})
	}
	return g.programs(string(text))
}

// commandsOfRebase are the lines of a list of what is left of a rebase that run a command.
func commandsOfRebase(todo string) (commands []string) {
	for line := range strings.Lines(todo) {
		verb, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "), " ")
		if verb == "exec" || verb == "x" {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	return commands
}

// strategyOfRebase is the strategy of a rebase, unless git has it built in.
func strategyOfRebase(text string) []string {
	name := strings.TrimSpace(text)
	if name == "" || slices.Contains(strategies, name) {
		return nil
	}
	return []string{"strategy " + name}
}

// submodules are the repositories beneath a directory, with the repositories of their own submodules.
func submodules(r *rootfile.Dir, dir string) (repos []string) {
	looked := 0
	for dirs := []string{dir}; len(dirs) > 0 && looked < maxNested; dirs = dirs[1:] {
		looked++
		for _, repo := range directoriesIn(r, dirs[0]) {
			if isRepository(r, repo) {
				repos = append(repos, repo)
				repo = path.Join(repo, "modules")
			}
			dirs = append(dirs, repo)
		}
	}
	return repos
}

// directoriesIn are the directories in a directory, at most so many, by their paths.
func directoriesIn(r *rootfile.Dir, dir string) (dirs []string) {
	f, err := r.Handle.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	entries, _ := f.ReadDir(maxGuardedNames)
	f.Close()
	for _, entry := range entries {
		if entry.IsDir() && len(dirs) < maxNested {
			dirs = append(dirs, path.Join(dir, entry.Name()))
		}
	}
	return dirs
}

func isRepository(r *rootfile.Dir, dir string) bool {
	info, err := r.Handle.Lstat(filepath.FromSlash(path.Join(dir, "HEAD")))
	return err == nil && info.Mode().IsRegular()
}

// bare reports whether the entries of a directory are what a repository has, which git
// finds from within it without the name .git.
func bare(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return strings.EqualFold(entry.Name(), name) })
	}
	return has("HEAD") && (has("objects") || has("commondir"))
}

// rememberConfigured remembers what the configuration of a repository leads to in the root:
// the directory of its hooks, and files that it includes. Both make git run programs as the
// configuration does.
func (at *guardedRoot) rememberConfigured(repo string, programs func(config string) []string) {
	for _, name := range configNames {
		config := path.Join(repo, name)
		for _, setting := range programs(string(at.files[config].text)) {
			key, value, _ := strings.Cut(setting, "=")
			key, value = strings.ToLower(key), strings.Trim(strings.TrimSpace(value), `"`)
			switch {
			case value == "":
			case key == "core.hookspath":
				at.addDir(at.inRoot(path.Dir(repo), value))
			case strings.HasPrefix(key, "include") && strings.HasSuffix(key, ".path"):
				if file := at.inRoot(repo, value); file != "" {
					at.included = append(at.included, file)
					at.remember(file)
				}
			}
		}
	}
}

// inRoot is a path of a configuration, from the root; "" where it leads out of it, or to
// all of it.
func (at *guardedRoot) inRoot(dir, value string) string {
	name := path.Join(dir, filepath.ToSlash(value))
	if filepath.IsAbs(value) {
		rel, ok := pathname.Rel(at.root.Path, value)
		if !ok {
			return ""
		}
		name = filepath.ToSlash(rel)
	}
	if name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
		return ""
	}
	return name
}

// addDir remembers one more name of which all counts.
func (at *guardedRoot) addDir(name string) {
	if name != "" && !slices.Contains(at.dirs, name) {
		at.dirs = append(at.dirs, name)
		at.rememberAll(name)
	}
}

// rememberTargets remembers what protected names lead to by links: there stands what the
// programs read. A link to what holds the link itself leads to everything, and says nothing.
func (at *guardedRoot) rememberTargets() {
	for name, k := range at.files {
		if k.link == "" || !slices.ContainsFunc(at.dirs, func(dir string) bool { return pathname.Contains(dir, name) }) {
			continue
		}
		if target := leads(at.root, name); target != "" && (name == target || !pathname.Contains(target, name)) {
			at.walk.names = appendNew(at.walk.names, []string{target})
			at.addDir(target)
		}
	}
}

// leads is where a link leads within its root; "" where it leads out or nowhere.
func leads(r *rootfile.Dir, name string) string {
	at := guardedRoot{root: r}
	const most = 8 // links that lead to links
	for range most {
		target, err := r.Handle.Readlink(filepath.FromSlash(name))
		if err != nil {
			break
		}
		if name = at.inRoot(path.Dir(name), target); name == "" {
			return ""
		}
	}
	if _, err := r.Handle.Lstat(filepath.FromSlash(name)); err != nil {
		return ""
	}
	return name
}
