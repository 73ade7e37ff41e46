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

	"acp-agent/internal/gitdir"
	"acp-agent/sandbox"
	"acp-agent/workspace"
)

// Bounds of a git command that lists names.
const (
	maxNamesBytes        = 1 << 20
	maxHistoryNamesBytes = 16 << 20
	gitNamesTime         = 5 * time.Second
)

// gitNames asks git for the paths of the files whose content a command would print. It runs git only when
// a sandbox holds it to reading and the repository names no programs (C9). words are the words of the
// command from the subcommand on: diff, log, show, stash show, or grep with its pattern after -e.
func (f commandFiles) gitNames(ctx context.Context, report sandbox.Report, dir string, words []string) (names []string, ok bool) {
	call := f.work.Call(f.call+"/git", f.tool, nil)
	defer call.Finish()
	repo, found := repositoryAt(f.work, f.home, dir)
	if !found || !report.Confines() || repo.namesPrograms() {
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
	// Git prints an object that is not a commit without the name of a file.
	if len(commits) > 0 && words[0] != "log" {
		if _, ok := readGit(ctx, call, dir, maxNamesBytes, append([]string{"rev-parse", "--end-of-options"}, commits...)...); !ok {
			return repo.namesIfRefused(ctx, call, dir, operands, commits)
		}
	}
	printed, ok := readGit(ctx, call, dir, maxNamesBytes, namesOnly(words)...)
	if !ok {
		return repo.namesIfRefused(ctx, call, dir, operands, commits)
	}
	for name := range strings.FieldsFuncSeq(string(printed), func(r rune) bool { return r == 0 || r == '\n' }) {
		if words[0] == "grep" {
			name = withoutRevision(name, operands)
		}
		names = append(names, repo.path(name))
	}
	return names, true
}

// plainRevision matches names that git can only take for revisions: no pattern, and no path of an object.
var plainRevision = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`) })

// namesIfRefused returns the files whose content a command could print although git refuses the command
// now. With "--" there are none: the words are revisions. Without it, git takes a word for the name of a
// file as soon as there is such a file, so the result is what git stores under these names.
func (g gitRepo) namesIfRefused(ctx context.Context, call *workspace.Call, dir string, operands, commits []string) (names []string, ok bool) {
	if !hasUnknownRevision(ctx, call, dir, commits) {
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
	return g.allNames(ctx, call, dir, paths)
}

// allNames returns the files that git stores or stored beneath any of these pathspecs; all where there are none.
// A commit names what it adds, so that each file is named about once.
func (g gitRepo) allNames(ctx context.Context, call *workspace.Call, dir string, paths []string) (names []string, ok bool) {
	for _, words := range [][]string{
		{"log", "--all", "--reflog", "--root", "--format=format:", "--diff-merges=first-parent", "--diff-filter=A", "--full-history", "--name-only", "-z", "--no-renames", "--no-relative", "--"},
		{"ls-files", "-z", "--full-name", "--"},
	} {
		printed, ok := readGit(ctx, call, dir, maxHistoryNamesBytes, append(words, paths...)...)
		if !ok {
			return nil, false
		}
		for name := range strings.FieldsFuncSeq(string(printed), func(r rune) bool { return r == 0 || r == '\n' }) {
			names = append(names, g.path(name))
		}
	}
	return names, true
}

// gitHistory returns the paths of all files that the repository of a directory holds or held. Git runs in a
// sandbox that holds it to reading, with what the repository's configuration could start here switched off.
func (f commandFiles) gitHistory(ctx context.Context, report sandbox.Report, dir string) (names []string, ok bool) {
	if gitdir.None(f.work.Resolve(dir)) {
		return nil, true
	}
	repo, found := repositoryAt(f.work, f.home, dir)
	if !found || !report.Confines() {
		return nil, false
	}
	call := f.work.Call(f.call+"/git", f.tool, nil)
	defer call.Finish()
	ctx, cancel := context.WithTimeout(ctx, gitNamesTime)
	defer cancel()
	return repo.allNames(ctx, call, dir, nil)
}

// hasUnknownRevision reports whether git does not know one of the revisions of a command, given in the form of
// [commitsOf]: git then refuses the command before it prints anything.
func hasUnknownRevision(ctx context.Context, call *workspace.Call, dir string, commits []string) bool {
	return slices.ContainsFunc(commits, func(commit string) bool {
		name := strings.TrimSuffix(commit, "^{commit}")
		if !plainRevision().MatchString(name) {
			return false
		}
		printed, code, whole := runGit(ctx, call, dir, maxNamesBytes, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
		return whole && code == 1 && len(printed) == 0
	})
}

// withoutRevision returns the name of a file from the output of git grep, which prefixes it with the commit as
// named among the operands.
func withoutRevision(found string, operands []string) string {
	for _, operand := range operands {
		if name, ok := strings.CutPrefix(found, operand+":"); ok {
			return name
		}
	}
	return found
}

// commitsOf returns the revisions among the operands of a git command, each with ^{commit}, so that it must
// be a commit. An operand after "--" is not a revision. Nor is the name of a file when there is no
// "--": git refuses a word that is both.
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

// namesOnly turns a command that prints content into one that prints the names of the same files, or of
// more.
func namesOnly(words []string) []string {
	sub, rest := words[0], words[1:]
	options := []string{"--name-only", "-z", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative"}
	rest = slices.DeleteFunc(slices.Clone(rest), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains([]string{
			"--oneline", "--format", "--pretty", "--graph", "--color", "--stat", "--numstat", "--shortstat", "--summary", "--relative",
			"-s", "--no-patch", "--name-only", "--name-status", "--compact-summary", "--dirstat",
		}, name)
	})
	switch sub {
	case "log":
		return slices.Concat([]string{"log", "--diff-merges=first-parent", "--format=format:"}, options, rest)
	case "show":
		return slices.Concat([]string{"log", "--no-walk=unsorted", "--diff-merges=first-parent", "--format=format:"}, options, rest)
	case "grep":
		return slices.Concat([]string{"grep", "-l", "-z", "--full-name", "--no-color", "--no-textconv"}, rest)
	case "stash":
		return slices.Concat([]string{"stash", "show"}, options, rest[1:])
	}
	return slices.Concat([]string{sub}, options, rest)
}
