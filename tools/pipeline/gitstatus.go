package pipeline

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"acp-agent/internal/gitdir"
)

// maxStatusBytes bounds the output of git status.
const maxStatusBytes = 256 << 10

// Repository is what git knows of the working directory.
type Repository struct {
	// Branch is the checked out branch or, without one, "detached at" and the commit.
	Branch string
	// Changed counts the files that differ from the last commit, untracked ones too, each
	// directory of untracked ones as one. Known says that git counted them: without that,
	// Changed is 0 and means nothing.
	Changed int
	Known   bool
}

// Repository describes the repository of the working directory, without a question to the user: it reads
// the name of the branch, and runs "git status" only when a sandbox holds git to reading and the
// repository names no programs (C9). ok is false when repositoryAt finds no repository.
func (p *Pipeline) Repository(ctx context.Context) (found Repository, ok bool) {
	call := p.Workspace.Call("repository", "git", nil)
	defer call.Finish()
	dir := p.Workspace.Session().Cwd
	repo, ok := repositoryAt(p.Workspace, p.Home, dir)
	if !ok {
		return found, false
	}
	head, err := gitdir.Read(filepath.Join(repo.Dir, "HEAD"), 1<<10)
	if err != nil {
		return found, false
	}
	found.Branch = branchOf(string(head))
	report, _, err := p.Workspace.Runner().Sandbox(ctx)
	if err != nil || !report.Confines() || repo.namesPrograms() {
		return found, true
	}
	if status, ok := readGit(ctx, call, dir, maxStatusBytes, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"); ok {
		found.Changed, found.Known = bytes.Count(status, []byte{0}), true
	}
	return found, true
}

// branchOf returns Repository.Branch for the content of a HEAD file.
func branchOf(head string) string {
	head = strings.TrimSpace(head)
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	return "detached at " + head[:min(len(head), 12)]
}
