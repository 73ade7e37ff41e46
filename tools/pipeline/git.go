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

// gitPrograms reports whether a git command in dir could run a program that
// the repository's own configuration names (C9). What cannot be read is taken
// to name one.
func (r *running) gitPrograms(dir string, roots []string) bool {
	runtime := r.pipeline.Workspace.Call(r.ID+"/git", r.Tool, transcript.SinkFunc(func(transcript.Event) {}))
	defer runtime.Finish()
	for {
		config, err := readConfig(runtime.FS(), filepath.Join(dir, ".git", "config"))
		switch {
		case err == nil:
			return len(command.GitConfigPrograms(config)) > 0
		case !errors.Is(err, fs.ErrNotExist):
			return true
		}
		// A .git that is a file points at a repository elsewhere.
		if _, err := runtime.FS().Stat(context.Background(), filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if slices.Contains(roots, dir) || dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
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
