package projects

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// Agents returns the files that may each be the manifest of an agent of the project:
// the Markdown files that lie directly in .agents/agents and .claude/agents, nearest
// first. They are the files that trust is bound to, with the very content.
func (s Snapshot) Agents() []File {
	return s.markdown(func(name string) int { return slices.Index(agentDirs, path.Dir(name)) })
}

// Commands returns the files that may each be a slash command of the project: the Markdown
// files that lie anywhere in .agents/commands, .claude/commands, .opencode/commands and
// .opencode/command, nearest first, and within a directory in this order. Trust
// is bound to these files with their very content.
func (s Snapshot) Commands() []File {
	return s.markdown(func(name string) int {
		return slices.IndexFunc(commandDirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
	})
}

// markdown returns Markdown files, nearest first. place is the rank of a name, without what
// leads upward, among those of its directory; a negative one leaves the file out.
func (s Snapshot) markdown(place func(name string) int) []File {
	var list []File
	for _, f := range s.Files {
		if _, name := climb(f.Name); place(name) >= 0 && strings.EqualFold(path.Ext(name), ".md") {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b File) int {
		up, name := climb(a.Name)
		than, other := climb(b.Name)
		return cmp.Or(cmp.Compare(up, than), cmp.Compare(place(name), place(other)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// climb says how many directories above the project a name begins, and what is left.
func climb(name string) (up int, rest string) {
	for strings.HasPrefix(name, above) {
		up, name = up+1, strings.TrimPrefix(name, above)
	}
	return up, name
}

// concernsTexts reports a path, in lower case, on which the agents and commands of a project
// depend.
func concernsTexts(name string) bool {
	_, name = climb(name)
	return slices.ContainsFunc(textDirs(), func(dir string) bool {
		return name == path.Dir(dir) || pathname.Contains(dir, name)
	})
}

// textDirs adds what lies in the directories of agents and commands of the project and, when it is
// part of a repository, of the directories above it up to the repository's root.
func (s *scanner) textDirs(project string) error {
	top := s.root
	defer func() { s.root, s.under = top, "" }()
	dirs, err := upward(project)
	if err != nil {
		return err
	}
	for i, dir := range dirs {
		if i > 0 {
			root, err := os.OpenRoot(dir)
			if err != nil {
				continue // what cannot be read is not used
			}
			defer root.Close()
			s.root, s.under = root, strings.Repeat(above, i)
		}
		for _, texts := range textDirs() {
			if err := s.tree(texts, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// upward returns the project's directory, without links, and those above it up to the
// root of the repository that it is part of. It stops below a directory that all users
// of the machine share: any user may have put it there.
func upward(project string) ([]string, error) {
	dir, err := Canonical(project)
	if err != nil {
		return nil, err
	}
	for dirs := []string{}; ; dir = filepath.Dir(dir) {
		repository, shared := look(dir)
		if len(dirs) > 0 && (shared || dir == dirs[len(dirs)-1]) {
			return dirs[:1], nil // there is no repository
		}
		if dirs = append(dirs, dir); repository {
			return dirs, nil
		}
	}
}

// look reports whether a directory is the root of a repository, and whether everybody
// may put files into it. One that cannot be opened is neither.
func look(dir string) (repository, shared bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, false
	}
	defer root.Close()
	if info, err := root.Stat("."); err == nil {
		shared = runtime.GOOS != "windows" && info.Mode()&fs.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
	}
	_, err = root.Lstat(".git")
	return err == nil, shared
}
