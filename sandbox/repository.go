package sandbox

import (
	"path/filepath"
	"slices"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
)

// outerRepositories are the repositories of the roots that lie outside of them: a root may be
// a subdirectory of a repository, or a linked worktree. A repository whose working tree is the
// home, or holds it, is none of theirs.
func (b *Box) outerRepositories(g homeGate, r Request) []gitdir.Repository {
	return slices.DeleteFunc(gitdir.Outside(r.Roots), func(repo gitdir.Repository) bool {
		return !g.opens(repo.Common) || g.real == "" || pathname.Contains(repo.Top, g.real) ||
			slices.ContainsFunc(b.Own, func(own string) bool { return ContainsReal(own, repo.Common) })
	})
}

// writableOf is what git writes of a repository when it commits. The other worktrees of the
// repository of a linked one are not its concern.
func writableOf(repo gitdir.Repository) []string {
	if !repo.Linked() {
		return []string{repo.Dir}
	}
	return append(under(repo.Common, []string{"objects", "refs", "logs"}), repo.Dir)
}

// protectedOf is what stays as it is of that (S3): what makes git run programs, and what says
// where it is to look for that.
func protectedOf(repo gitdir.Repository, gitConfig bool) []string {
	paths := under(repo.Dir, []string{"hooks", "commondir", "gitdir"})
	if !gitConfig {
		paths = append(paths, under(repo.Dir, configFiles[:])...)
	}
	return paths
}

// configFiles are the files of a repository's own configuration.
var configFiles = [...]string{"config", "config.worktree"}

// hooksOf are the directories of hooks that have to be there to be kept from a command.
func hooksOf(repos []gitdir.Repository) (dirs []string) {
	for _, repo := range repos {
		if !repo.Linked() {
			dirs = append(dirs, filepath.Join(repo.Dir, "hooks"))
		}
	}
	return dirs
}
