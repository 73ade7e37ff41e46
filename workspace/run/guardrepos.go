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
		if dir != ".git" && (isRepository(r, repo) || isName(r, repo)) {
			repos = append(repos, repo)
		}
	}
	repos = append(repos, directoriesIn(r, ".git/worktrees")...)
	return append(repos, submodules(r, ".git/modules")...)
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
func (g *guardedRoot) rememberConfigured(repo string, programs func(config string) []string) {
	for _, name := range configNames {
		config := path.Join(repo, name)
		for _, setting := range programs(string(g.files[config].text)) {
			key, value, _ := strings.Cut(setting, "=")
			key, value = strings.ToLower(key), strings.Trim(strings.TrimSpace(value), `"`)
			switch {
			case value == "":
			case key == "core.hookspath":
				g.addDir(g.inRoot(path.Dir(repo), value))
			case strings.HasPrefix(key, "include") && strings.HasSuffix(key, ".path"):
				if at := g.inRoot(repo, value); at != "" {
					g.included = append(g.included, at)
					g.remember(at)
				}
			}
		}
	}
}

// inRoot is a path of a configuration, from the root; "" where it leads out of it, or to
// all of it.
func (g *guardedRoot) inRoot(dir, value string) string {
	name := path.Join(dir, filepath.ToSlash(value))
	if filepath.IsAbs(value) {
		rel, ok := pathname.Rel(g.root.Path, value)
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
func (g *guardedRoot) addDir(name string) {
	if name != "" && !slices.Contains(g.dirs, name) {
		g.dirs = append(g.dirs, name)
		g.rememberAll(name)
	}
}

// rememberTargets remembers what protected names lead to by links: there stands what the
// programs read. A link to what holds the link itself leads to everything, and says nothing.
func (g *guardedRoot) rememberTargets() {
	for name, k := range g.files {
		if k.link == "" || !slices.ContainsFunc(g.dirs, func(dir string) bool { return pathname.Contains(dir, name) }) {
			continue
		}
		if target := leads(g.root, name); target != "" && (name == target || !pathname.Contains(target, name)) {
			g.walk.names = appendNew(g.walk.names, []string{target})
			g.addDir(target)
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
