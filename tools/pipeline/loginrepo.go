package pipeline

import (
	"path/filepath"
	"strings"

	"acp-agent/internal/gitdir"
	"acp-agent/permissions/command"
	"acp-agent/workspace/run"
)

// gitHubRepository returns the repository that gh pr and gh issue in the call's commands are for where they name none, and what
// the card says of it. It is "" where it is not certain, which the card says, too, or where the commands name it.
func (e *execution) gitHubRepository() (repository, shown string) {
	dirs := e.access.gitHubDirs
	if len(dirs) == 0 {
		return "", ""
	}
	if len(dirs) == 1 && !e.access.gitHubElsewhere {
		if repository = e.runtime.Commands().PassedGitHubRepository(); repository != "" {
			repository = strings.TrimPrefix(repository, run.GitHubHost+"/")
		} else if repo, ok := repositoryAt(e.pipeline.Workspace, e.pipeline.Home, dirs[0]); ok {
			repository = repo.gitHub()
		}
	}
	if !command.PlainGitHubRepository(repository) {
		return "", "in a repository that is not known"
	}
	return repository, "in " + repository
}

// gitHub returns the repository of GitHub's that the configuration is certain to name; "" where it names none.
func (g gitRepo) gitHub() string {
	if gitdir.MayExist(filepath.Join(g.Common, "commondir")) || gitdir.MayExist(filepath.Join(g.Dir, "config.worktree")) {
		return ""
	}
	config, err := g.config()
	if err != nil {
		return ""
	}
	return command.GitHubRepository(config)
}
