package pipeline

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/permissions/command"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// Bounds of asking git which files it would print.
const (
	maxNames     = 1 << 20 // bytes
	gitNamesTime = 5 * time.Second
)

// gitNames asks git for the names of the files whose content it would print, without that content:
// where a sandbox holds git to reading and the repository names no programs to git (C9). words are
// those of the command from the subcommand on: diff, log, show or stash show.
func (f commandFiles) gitNames(ctx context.Context, report sandbox.Report, dir string, words []string) (names []string, ok bool) {
	call := f.work.Call(f.call+"/git", f.tool, nil)
	defer call.Finish()
	repo, found := repositoryAt(f.work, call.FS(), dir)
	if !found || !report.Confines() || repo.programs() {
		return nil, false
	}
	call.Commands().Grant(run.Grant{ReadsOnly: true, Reading: true, Bounded: true, Unasked: true, Unattended: true, Offline: true})
	ctx, cancel := context.WithTimeout(ctx, gitNamesTime)
	defer cancel()
	git := func(args ...string) (string, bool) {
		out := &limited{left: maxNames}
		exit, err := call.Processes().Exec(ctx, tools.Program{
			Args: append([]string{"git", "--no-pager"}, args...), Dir: dir, Env: command.GitEnv(), Stderr: &limited{},
		}, out)
		return string(out.text), err == nil && exit.Code == 0 && out.left > 0
	}
	if words[0] == "diff" || words[0] == "show" {
		isFile := func(name string) bool {
			_, err := call.FS().Stat(ctx, filepath.Join(dir, name))
			return err == nil
		}
		// What is no commit, git prints as it is, whatever file it once was.
		if commits := commitsOf(words[1:], isFile); len(commits) > 0 {
			if _, ok := git(append([]string{"rev-parse", "--end-of-options"}, commits...)...); !ok {
				return nil, false
			}
		}
	}
	list, ok := git(namesOnly(words)...)
	if !ok {
		return nil, false
	}
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == 0 || r == '\n' }) {
		names = append(names, name)
	}
	return names, true
}

// commitsOf are the revisions among the operands of a git command, each as one that has to be a
// commit. What stands after "--", or is the name of a file, is none.
func commitsOf(operands []string, isFile func(string) bool) (commits []string) {
	for _, operand := range operands {
		if operand == "--" {
			break
		}
		if strings.HasPrefix(operand, "-") || isFile(operand) {
			continue
		}
		from, to, ranges := strings.Cut(operand, "...")
		if !ranges {
			from, to, ranges = strings.Cut(operand, "..")
		}
		commits = append(commits, cmp.Or(from, "HEAD")+"^{commit}")
		if ranges {
			commits = append(commits, cmp.Or(to, "HEAD")+"^{commit}")
		}
	}
	return commits
}

// namesOnly makes of a command that prints content one that prints the names of the same files, and
// perhaps of more.
func namesOnly(words []string) []string {
	sub, rest := words[0], words[1:]
	list := []string{"--name-only", "-z", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"}
	rest = slices.DeleteFunc(slices.Clone(rest), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains([]string{"--oneline", "--format", "--pretty", "--graph", "--color", "--stat", "--numstat", "--shortstat", "--summary"}, name)
	})
	switch sub {
	case "log":
		return slices.Concat([]string{"log", "--diff-merges=first-parent", "--format=format:"}, list, rest)
	case "show":
		return slices.Concat([]string{"log", "--no-walk=unsorted", "--diff-merges=first-parent", "--format=format:"}, list, rest)
	case "stash":
		return slices.Concat([]string{"stash", "show"}, list, rest[1:])
	}
	return slices.Concat([]string{sub}, list, rest)
}
