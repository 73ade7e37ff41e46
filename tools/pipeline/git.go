package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// maxGitConfig bounds how much of a repository's configuration is looked at.
const maxGitConfig = 1 << 20

// gitPrograms reports whether a git command in dir could run a program, or reach
// a place, that a repository's own configuration names (C9). Whatever is not the
// plain case, a .git directory at or below a root with a configuration that is
// fully understood, is taken to.
func (r *running) gitPrograms(dir string) bool {
	runtime := r.pipeline.Workspace.Call(r.ID+"/git", r.Tool, transcript.SinkFunc(func(transcript.Event) {}))
	defer runtime.Finish()
	files, roots := runtime.FS(), r.pipeline.Workspace.Session().Roots
	exists := func(name ...string) bool {
		_, err := files.Stat(context.Background(), filepath.Join(append([]string{dir, ".git"}, name...)...))
		return !errors.Is(err, fs.ErrNotExist)
	}
	for dir = r.env.Resolve(dir); !exists(); dir = filepath.Dir(dir) {
		if slices.Contains(roots, dir) || dir == filepath.Dir(dir) {
			return true // the repository, if any, lies outside the session
		}
	}
	if exists("commondir") || exists("config.worktree") {
		return true
	}
	config, err := readConfig(files, filepath.Join(dir, ".git", "config"))
	return err != nil || len(command.GitConfigPrograms(config)) > 0
}

func readConfig(files tools.FS, path string) (string, error) {
	file, err := files.Open(context.Background(), path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxGitConfig+1))
	if err == nil && len(data) > maxGitConfig {
		err = errors.New("configuration is too large")
	}
	return string(data), err
}
