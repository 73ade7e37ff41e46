package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// Bounds of what is looked at of a repository.
const (
	maxGitConfig = 1 << 20
	maxGitIndex  = 64 << 20
)

// repository is what a git command would find from a directory.
type repository struct {
	files tools.FS
	top   string
}

// repositoryAt finds a plain repository: a .git directory at or below a root.
func repositoryAt(work *workspace.Workspace, files tools.FS, dir string) (repository, bool) {
	roots := work.Session().Roots
	for dir = work.Resolve(dir); ; dir = filepath.Dir(dir) {
		found := repository{files, dir}
		if found.exists(".git") {
			return found, true
		}
		if found.exists("HEAD") && found.exists("objects") {
			return repository{}, false // git may take the directory itself for one
		}
		if slices.Contains(roots, dir) || dir == filepath.Dir(dir) {
			return repository{}, false // the repository, if any, lies outside the session
		}
	}
}

func (g repository) exists(name string) bool {
	_, err := g.files.Stat(context.Background(), filepath.Join(g.top, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist)
}

// config is the repository's own configuration.
func (g repository) config() (string, error) {
	data, err := readBounded(g.files, filepath.Join(g.top, ".git", "config"), maxGitConfig)
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
	if !g.exists(".git/index") {
		return nil, nil
	}
	data, err := readBounded(g.files, filepath.Join(g.top, ".git", "index"), maxGitIndex)
	if err != nil {
		return nil, err
	}
	return command.GitIndex(data)
}

// commandFiles answers what the judge of commands asks of the files that one call could touch.
type commandFiles struct {
	work *workspace.Workspace
	// own are directories of the agent, see Machine.
	own []string
	// call and tool name whose judgement it is.
	call, tool string
}

// gitPrograms reports whether a git command in dir could run a program, or reach
// a place, that a repository's own configuration names (C9). Whatever is not the
// plain case, a .git directory at or below a root with a configuration that is
// fully understood, is taken to; and so is a submodule, which has one of its own.
func (f commandFiles) gitPrograms(dir string) bool {
	runtime := f.work.Call(f.call+"/git", f.tool, nil)
	defer runtime.Finish()
	repo, ok := repositoryAt(f.work, runtime.FS(), dir)
	return !ok || repo.programs()
}

// programs reports whether git could run a program, or reach a place, that the
// repository's own configuration names, or is not understood.
func (g repository) programs() bool {
	if g.exists(".git/commondir") || g.exists(".git/config.worktree") {
		return true
	}
	config, err := g.config()
	if err != nil || len(command.GitConfigPrograms(config)) > 0 {
		return true
	}
	entries, err := g.tracked()
	return err != nil || slices.ContainsFunc(entries, func(e command.GitEntry) bool {
		return e.Submodule && g.exists(e.Name+"/.git")
	})
}

// holdsAddress is tools.FS.HoldsAddress for the judge of commands.
func (f commandFiles) holdsAddress(path string) bool {
	runtime := f.work.Call(f.call+"/git", f.tool, nil)
	defer runtime.Finish()
	return runtime.FS().HoldsAddress(path)
}

// gitHoldsAddress reports whether the configuration that git would heed in dir holds an
// address with a user and password.
func (f commandFiles) gitHoldsAddress(dir string) bool {
	runtime := f.work.Call(f.call+"/git", f.tool, nil)
	defer runtime.Finish()
	repo, ok := repositoryAt(f.work, runtime.FS(), dir)
	return ok && runtime.FS().HoldsAddress(filepath.Join(repo.top, ".git", "config"))
}

// gitHoldsSecret reports whether a file that git tracks has the name of a secret, or holds
// the address of a remote with a user and password.
func (f commandFiles) gitHoldsSecret(dir string) bool {
	runtime := f.work.Call(f.call+"/git", f.tool, nil)
	defer runtime.Finish()
	repo, ok := repositoryAt(f.work, runtime.FS(), dir)
	if !ok {
		return true
	}
	if runtime.FS().HoldsAddress(filepath.Join(repo.top, ".gitmodules")) {
		return true
	}
	entries, err := repo.tracked()
	return err != nil || slices.ContainsFunc(entries, func(e command.GitEntry) bool {
		return f.work.SecretName(filepath.Join(repo.top, filepath.FromSlash(e.Name)))
	})
}

func readBounded(files tools.FS, path string, most int64) ([]byte, error) {
	file, err := files.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New(filepath.Base(path) + " is too large")
	}
	return data, err
}
