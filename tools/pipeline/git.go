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

// Bounds of the files of a repository that are read, in bytes.
const (
	maxGitConfig = 1 << 20
	maxGitIndex  = 64 << 20
)

// gitRepo is the repository that a git command finds from a directory.
type gitRepo struct {
	gitdir.Repository
	// inside says that the working tree lies inside the session's directories.
	inside bool
}

// repositoryAt finds the repository of a directory inside the session's directories, or one that an answer opened. The session may
// have only a subdirectory of it, or a linked worktree. A repository whose working tree is the
// user's home, or contains it, belongs to no project and is not found.
func repositoryAt(work *workspace.Workspace, home, dir string) (gitRepo, bool) {
	dir = work.Resolve(dir)
	within := func(path string) bool {
		if slices.ContainsFunc(work.Session().Roots, func(root string) bool { return pathname.Contains(root, path) }) {
			return true
		}
		access, err := work.Check(path, false)
		return err == nil && access.Opened
	}
	found, ok := gitdir.Find(dir)
	if !ok || !within(dir) {
		return gitRepo{}, false
	}
	inside := within(found.Top)
	if !inside && (home == "" || pathname.Contains(found.Top, work.Resolve(home))) {
		return gitRepo{}, false
	}
	return gitRepo{found, inside}, true
}

// config returns the repository's own configuration.
func (g gitRepo) config() (string, error) {
	data, err := gitdir.Read(filepath.Join(g.Common, "config"), maxGitConfig)
	return string(data), err
}

// tracked returns the files that git tracks; none when there is no index yet. It reads an index with the names
// of SHA-1 alone.
func (g gitRepo) tracked() ([]command.GitEntry, error) {
	config, err := g.config()
	if err != nil {
		return nil, err
	}
	if strings.Contains(strings.ToLower(config), "objectformat") {
		return nil, errors.New("the index may hold object names of another length")
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

// path returns the path of a file of the working tree, given git's name for it.
func (g gitRepo) path(name string) string { return filepath.Join(g.Top, filepath.FromSlash(name)) }

// gitPrograms reports whether a git command in dir could run a program, or reach a place, that a
// repository's own configuration names (C9). The answer is yes unless the configuration is fully
// understood, and for a submodule, which has a configuration of its own.
func (f commandFiles) gitPrograms(dir string) bool {
	repo, ok := repositoryAt(f.work, f.home, dir)
	return !ok || repo.namesPrograms()
}

// namesPrograms reports whether the repository's own configuration names a program that git could run, or
// a place that it could reach, or is not understood.
func (g gitRepo) namesPrograms() bool {
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

// holdsAddress reports whether the configuration cannot be read, or has an address with a user and password.
func (g gitRepo) holdsAddress() bool {
	config, err := g.config()
	return err != nil && !errors.Is(err, fs.ErrNotExist) || redact.Addresses(config) != config
}

// gitHoldsSecret reports whether a diff in dir may print a secret: the working tree is not inside the
// session's directories, .gitmodules holds an address with a user and password, or a file that git tracks has the
// name of a secret. A repository that is not found or cannot be read counts as holding one.
func (f commandFiles) gitHoldsSecret(dir string) bool {
	repo, ok := repositoryAt(f.work, f.home, dir)
	if !ok || !repo.inside || f.holdsAddress(repo.path(".gitmodules")) {
		return true
	}
	entries, err := repo.tracked()
	return err != nil || slices.ContainsFunc(entries, func(e command.GitEntry) bool { return f.work.SecretName(repo.path(e.Name)) })
}
