package pipeline

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
	"acp-agent/internal/redact"
	"acp-agent/permissions/command"
	"acp-agent/workspace"
)

// Bounds of what is looked at of a repository.
const (
	maxGitConfig = 1 << 20
	maxGitIndex  = 64 << 20
)

// repository is what a git command would find from a directory.
type repository struct {
	gitdir.Repository
	// inside says that its working tree lies inside the session's directories.
	inside bool
}

// repositoryAt finds the repository of a directory inside the session's: also one of which the
// session has only a subdirectory, and one of which it is a linked worktree. Not one whose
// working tree is the user's home or holds it, which is no project's.
func repositoryAt(work *workspace.Workspace, home, dir string) (repository, bool) {
	dir = work.Resolve(dir)
	within := func(path string) bool {
		return slices.ContainsFunc(work.Session().Roots, func(root string) bool { return pathname.Contains(root, path) })
	}
	found, ok := gitdir.Find(dir)
	if !ok || !within(dir) {
		return repository{}, false
	}
	inside := within(found.Top)
	if !inside && (home == "" || pathname.Contains(found.Top, work.Resolve(home))) {
		return repository{}, false
	}
	return repository{found, inside}, true
}

// config is the repository's own configuration.
func (g repository) config() (string, error) {
	data, err := gitdir.Read(filepath.Join(g.Common, "config"), maxGitConfig)
	return string(data), err
}

// tracked is what git tracks there; nothing when there is no index yet.
func (g repository) tracked() ([]command.GitEntry, error) {
	config, err := g.config()
	if err != nil {
		return nil, err
	}
	if strings.Contains(strings.ToLower(config), "objectformat") {
		return nil, errors.New("the index may hold names of another length")
	}
	data, err := gitdir.Read(filepath.Join(g.Dir, "index"), maxGitIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return command.GitIndex(data)
}

// path is the path of a file of the working tree by git's name for it.
func (g repository) path(name string) string { return filepath.Join(g.Top, filepath.FromSlash(name)) }

// gitPrograms reports whether a git command in dir could run a program, or reach
// a place, that a repository's own configuration names (C9). Whatever is not the
// plain case, a repository with a configuration that is fully understood, is taken to;
// and so is a submodule, which has one of its own.
func (f commandFiles) gitPrograms(dir string) bool {
	repo, ok := repositoryAt(f.work, f.home, dir)
	return !ok || repo.programs()
}

// programs reports whether git could run a program, or reach a place, that the
// repository's own configuration names, or is not understood.
func (g repository) programs() bool {
	if gitdir.MayExist(filepath.Join(g.Common, "commondir")) || gitdir.MayExist(filepath.Join(g.Dir, "config.worktree")) {
		return true
	}
	config, err := g.config()
	if err != nil || len(command.GitConfigPrograms(config)) > 0 {
		return true
	}
	entries, err := g.tracked()
	return err != nil || slices.ContainsFunc(entries, func(e command.GitEntry) bool {
		return e.Submodule && gitdir.MayExist(g.path(e.Name+"/.git"))
	})
}

// gitHoldsAddress reports whether the configuration that git would use in dir holds an
// address with a user and password.
func (f commandFiles) gitHoldsAddress(dir string) bool {
	repo, ok := repositoryAt(f.work, f.home, dir)
	return ok && repo.holdsAddress()
}

func (g repository) holdsAddress() bool {
	config, err := g.config()
	return err != nil && !errors.Is(err, fs.ErrNotExist) || redact.Addresses(config) != config
}

// gitHoldsSecret reports whether a diff in dir may print a secret: a file that git tracks has
// the name of one, or holds the address of a remote with a user and password, or lies outside
// the session's directories.
func (f commandFiles) gitHoldsSecret(dir string) bool {
	repo, ok := repositoryAt(f.work, f.home, dir)
	if !ok || !repo.inside || f.holdsAddress(repo.path(".gitmodules")) {
		return true
	}
	entries, err := repo.tracked()
	return err != nil || slices.ContainsFunc(entries, func(e command.GitEntry) bool { return f.work.SecretName(repo.path(e.Name)) })
}
