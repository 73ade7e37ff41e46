package pipeline

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/sandbox"
	"acp-agent/workspace"
)

// Bounds of asking git which files it would print.
const (
	maxNames     = 1 << 20 // bytes
	gitNamesTime = 5 * time.Second
)

// gitNames asks git for the paths of the files whose content it would print, without that content:
// where a sandbox holds git to reading and the repository names no programs to git (C9). words are
// those of the command from the subcommand on: diff, log, show, stash show, or grep with its pattern after -e.
func (f commandFiles) gitNames(ctx context.Context, report sandbox.Report, dir string, words []string) (names []string, ok bool) {
	call := f.work.Call(f.call+"/git", f.tool, nil)
	defer call.Finish()
	repo, found := repositoryAt(f.work, f.home, dir)
	if !found || !report.Confines() || repo.programs() {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, gitNamesTime)
	defer cancel()
	operands := words[1:]
	if words[0] == "grep" {
		operands = words[slices.Index(words, "-e")+2:]
	}
	var commits []string
	if words[0] != "stash" {
		commits = commitsOf(operands, func(name string) bool {
			_, err := call.FS().Stat(ctx, filepath.Join(dir, name))
			return err == nil
		})
	}
	// Git prints an object that is not a commit as it is, and does not say of which file it was.
	if len(commits) > 0 && words[0] != "log" {
		if _, ok := readGit(ctx, call, dir, maxNames, append([]string{"rev-parse", "--end-of-options"}, commits...)...); !ok {
			return repo.namesOfRefused(ctx, call, dir, operands, commits)
		}
	}
	list, ok := readGit(ctx, call, dir, maxNames, namesOnly(words)...)
	if !ok {
		return repo.namesOfRefused(ctx, call, dir, operands, commits)
	}
	for name := range strings.FieldsFuncSeq(string(list), func(r rune) bool { return r == 0 || r == '\n' }) {
		if words[0] == "grep" {
			name = withoutRevision(name, operands)
		}
		names = append(names, repo.path(name))
	}
	return names, true
}

// plainRevision accepts the names of revisions that git can take for nothing else: no pattern, and no
// path of an object.
var plainRevision = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`) })

// namesOfRefused are the files whose content a command would print that git refuses now: none where
// "--" makes its words revisions, and otherwise what git keeps by these names, since git takes one of
// them for the name of a file as soon as there is such a file.
func (g repository) namesOfRefused(ctx context.Context, call *workspace.Call, dir string, operands, commits []string) (names []string, ok bool) {
	if !refused(ctx, call, dir, commits) {
		return nil, false
	}
	if slices.Contains(operands, "--") {
		return nil, true
	}
	var paths []string
	for _, operand := range operands {
		if !strings.HasPrefix(operand, "-") {
			paths = append(paths, ":(literal)"+operand)
		}
	}
	for _, words := range [][]string{
		{"log", "--all", "--reflog", "--format=format:", "--diff-merges=first-parent", "--name-only", "-z", "--no-renames", "--no-relative", "--"},
		{"ls-files", "-z", "--full-name", "--"},
	} {
		list, ok := readGit(ctx, call, dir, maxNames, append(words, paths...)...)
		if !ok {
			return nil, false
		}
		for name := range strings.FieldsFuncSeq(string(list), func(r rune) bool { return r == 0 || r == '\n' }) {
			names = append(names, g.path(name))
		}
	}
	return names, true
}

// refused reports that git knows one of the revisions of a command, given in the form of [commitsOf],
// for nothing at all: it refuses the command then, before it prints anything.
func refused(ctx context.Context, call *workspace.Call, dir string, commits []string) bool {
	return slices.ContainsFunc(commits, func(commit string) bool {
		name := strings.TrimSuffix(commit, "^{commit}")
		if !plainRevision().MatchString(name) {
			return false
		}
		printed, code, whole := runGit(ctx, call, dir, maxNames, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
		return whole && code == 1 && len(printed) == 0
	})
}

// withoutRevision is the name of a file that git grep found in a commit, which it gives after that
// commit as it is named among the operands.
func withoutRevision(found string, operands []string) string {
	for _, operand := range operands {
		if name, ok := strings.CutPrefix(found, operand+":"); ok {
			return name
		}
	}
	return found
}

// commitsOf returns the revisions among the operands of a git command, each in the form that has to
// be a commit. An operand after "--" is not a revision, nor, without "--", the name of a file: git
// refuses one that is both.
func commitsOf(operands []string, isFile func(string) bool) (commits []string) {
	separated := slices.Contains(operands, "--")
	for i := 0; i < len(operands) && operands[i] != "--"; i++ {
		operand := operands[i]
		if slices.Contains([]string{"-n", "-S", "-G"}, operand) {
			i++ // its value
			continue
		}
		if strings.HasPrefix(operand, "-") || !separated && isFile(operand) {
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

// namesOnly turns a command that prints content into one that prints the names of the same files, and
// perhaps of more.
func namesOnly(words []string) []string {
	sub, rest := words[0], words[1:]
	list := []string{"--name-only", "-z", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative"}
	rest = slices.DeleteFunc(slices.Clone(rest), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains([]string{"--oneline", "--format", "--pretty", "--graph", "--color", "--stat", "--numstat", "--shortstat", "--summary", "--relative"}, name)
	})
	switch sub {
	case "log":
		return slices.Concat([]string{"log", "--diff-merges=first-parent", "--format=format:"}, list, rest)
	case "show":
		return slices.Concat([]string{"log", "--no-walk=unsorted", "--diff-merges=first-parent", "--format=format:"}, list, rest)
	case "grep":
		return slices.Concat([]string{"grep", "-l", "-z", "--full-name", "--no-color", "--no-textconv"}, rest)
	case "stash":
		return slices.Concat([]string{"stash", "show"}, list, rest[1:])
	}
	return slices.Concat([]string{sub}, list, rest)
}
