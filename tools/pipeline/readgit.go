package pipeline

import (
	"context"

	"acp-agent/internal/textcut"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// readGit runs git in a sandbox that holds it to reading, and returns its output; ok is false when git
// fails, or prints more than most bytes. The caller must check that there is such a sandbox, and
// that the repository names no programs (C9).
func readGit(ctx context.Context, call *workspace.Call, dir string, most int, args ...string) (printed []byte, ok bool) {
	printed, code, whole := runGit(ctx, call, dir, most, args...)
	return printed, whole && (code == 0 || args[0] == "grep" && code == 1) // grep found nothing
}

// runGit is readGit with the exit code of git; whole is false when git could not be run, or printed more
// than most bytes.
func runGit(ctx context.Context, call *workspace.Call, dir string, most int, args ...string) (printed []byte, code int, whole bool) {
	call.Commands().Grant(run.Grant{ReadsOnly: true, Reading: true, Bounded: true, Unasked: true, Unattended: true, Offline: true})
	out := textcut.NewHead(most)
	exit, err := call.Processes().Exec(ctx, tools.Program{
		Args: append([]string{"git", "--no-pager"}, args...), Dir: dir, Env: command.GitEnv(), Stderr: &textcut.Head{},
	}, out)
	return out.Bytes(), exit.Code, err == nil && !out.Cut()
}
