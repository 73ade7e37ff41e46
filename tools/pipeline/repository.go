package pipeline

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// maxStatus bounds what is read of git's status, in bytes.
const maxStatus = 256 << 10

// Repository is what git knows of the working directory.
type Repository struct {
	// Branch is the checked out branch or, without one, "detached at" and the commit.
	Branch string
	// Changed counts the files that differ from the last commit, untracked ones too, each
	// directory of untracked ones as one. It is meaningless unless Known.
	Changed int
	Known   bool
}

// Repository looks at the repository of the working directory, without asking anyone: it
// reads the name of the branch, and runs "git status" only where a sandbox holds git to
// reading and the repository names no programs to git (C9). ok is false where there is
// no plain repository within the session's directories.
func (p *Pipeline) Repository(ctx context.Context) (found Repository, ok bool) {
	call := p.Workspace.Call("repository", "git", nil)
	defer call.Finish()
	dir := p.Workspace.Session().Cwd
	repo, ok := repositoryAt(p.Workspace, call.FS(), dir)
	if !ok {
		return found, false
	}
	head, err := readBounded(call.FS(), filepath.Join(repo.top, ".git", "HEAD"), 1<<10)
	if err != nil {
		return found, false
	}
	found.Branch = branchOf(string(head))
	report, _, err := p.Workspace.Runner().Sandbox(ctx)
	if err != nil || !report.Confines() || repo.programs() {
		return found, true
	}
	call.Commands().Grant(run.Grant{ReadsOnly: true, Reading: true, Bounded: true, Unasked: true, Unattended: true, Offline: true})
	out := &limited{left: maxStatus}
	exit, err := call.Processes().Exec(ctx, tools.Program{
		Args: []string{"git", "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"}, Dir: dir, Env: command.GitEnv(), Stderr: &limited{},
	}, out)
	if err == nil && exit.Code == 0 && out.left > 0 {
		found.Changed, found.Known = bytes.Count(out.text, []byte{0}), true
	}
	return found, true
}

// branchOf reads the branch out of a HEAD file.
func branchOf(head string) string {
	head = strings.TrimSpace(head)
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	return "detached at " + head[:min(len(head), 12)]
}

// limited keeps the first bytes that are written to it.
type limited struct {
	text []byte
	left int
}

// Write implements io.Writer. It takes everything, so that the program ends by itself.
func (l *limited) Write(b []byte) (int, error) {
	kept := min(len(b), l.left)
	l.text, l.left = append(l.text, b[:kept]...), l.left-kept
	return len(b), nil
}
