package command

import (
	"slices"
	"strings"
)

// The gitLog constants hold the options that log, show and diff share. Options that print patches or the
// content of files (-p, -L, -S, --word-diff, --check), or imply that, are left out: history may hold the
// former content of a secret file (P8). An option with an optional value takes it attached only.
const (
	gitLogFlags = "szwbRiqa"
	gitLogLong  = "--oneline --graph --all --shortstat --numstat --name-only --name-status --no-patch --summary " +
		"--abbrev-commit --no-abbrev-commit --no-merges --merges --first-parent --reverse --follow --cached --staged " +
		"--no-color --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --exit-code --quiet --no-ext-diff --no-textconv " +
		"--no-renames --left-right --cherry-pick --simplify-by-decoration --topo-order --date-order " +
		"--full-history --minimal --patience --histogram --merge-base " +
		"--no-decorate --no-notes --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match --invert-grep --relative-date --compact-summary"
	gitLogVal = "--max-count --skip --author --committer --grep --date --diff-filter --diff-algorithm"
	gitLogMay = "--pretty --format --decorate --abbrev --color --find-renames --find-copies --dirstat --relative --stat-width --stat --tags --branches --remotes --since --until --after --before --encoding"
)

// gitSummaries lists the options with which diff and show print no content.
var gitSummaries = []string{"--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary", "--compact-summary", "--dirstat", "--no-patch", "-s"}

// gitForms lists the subcommands that only read, with their vetted options. It leaves out what writes the
// index although GIT_OPTIONAL_LOCKS forbids it (describe --dirty).
var gitForms = map[string]entry{
	"status": {args: argNames, options: options{
		flags: "sbz", long: "--short --branch --long --show-stash --ahead-behind --no-ahead-behind --no-renames",
		longMay: "--porcelain --untracked-files --ignored --find-renames --column",
	}},
	"log":  {args: argFiles, options: options{flags: gitLogFlags + "g", valued: "nSG", number: true, long: gitLogLong, longVal: gitLogVal, longMay: gitLogMay}},
	"show": {args: argFiles, options: options{flags: gitLogFlags, long: gitLogLong, longVal: gitLogVal, longMay: gitLogMay}},
	"diff": {args: argFiles, options: options{flags: gitLogFlags, long: gitLogLong, longVal: gitLogVal, longMay: gitLogMay}},
	"branch": {args: argText, options: options{
		flags: "arviq", long: "--list --all --remotes --show-current --verbose --ignore-case --no-color --no-column",
		longMay: "--contains --no-contains --merged --no-merged --color --column --abbrev", longVal: "--sort --format --points-at",
	}},
	"rev-parse": {args: argFiles, options: options{
		flags: "q", long: "--show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --is-inside-git-dir --verify --quiet --symbolic --symbolic-full-name --is-bare-repository --git-common-dir --absolute-git-dir --is-shallow-repository --show-superproject-working-tree",
		longMay: "--short --abbrev-ref",
	}},
	"remote":        {args: argNone, options: options{flags: "v", long: "--verbose"}},
	"ls-files":      {args: argNames, options: options{flags: "cdmotvz", long: "--cached --deleted --modified --others --exclude-standard --full-name", longVal: "--exclude"}},
	"tag":           {args: argText, options: options{flags: "il", long: "--list --ignore-case --no-column", longVal: "--sort --format --points-at", longMay: "--contains --merged --no-merged --column --color"}},
	"describe":      {args: argText, options: options{long: "--tags --all --always --long --exact-match --first-parent", longVal: "--match --exclude", longMay: "--abbrev"}},
	"ls-tree":       {args: argText, options: options{flags: "rdtlz", long: "--name-only --name-status --full-name --full-tree --long", longMay: "--abbrev"}},
	"shortlog":      {args: argFiles, options: options{flags: "sne", long: "--summary --numbered --email --all --no-merges", longMay: "--since --until --author"}},
	"reflog":        {args: argFiles, options: options{flags: gitLogFlags, valued: "n", number: true, long: gitLogLong, longVal: gitLogVal, longMay: gitLogMay}},
	"check-ignore":  {args: argNames, options: options{flags: "vnqz", long: "--verbose --non-matching --quiet --no-index"}},
	"cat-file":      {args: argText, options: options{flags: "ets"}},
	"for-each-ref":  {args: argText, options: options{long: "--ignore-case", longVal: "--sort --format --points-at --count", longMay: "--contains --no-contains --merged --no-merged"}},
	"count-objects": {options: options{flags: "vH", long: "--verbose --human-readable"}},
	"name-rev":      {args: argText, options: options{long: "--name-only --tags --always --no-undefined", longMay: "--refs --exclude"}},
	"config":        {args: argText, options: options{posix: true, long: "--get --local --global"}},
	"merge-base":    {args: argText, options: options{flags: "a", long: "--all --is-ancestor --octopus --fork-point"}},
	"rev-list":      {args: argFiles, options: options{valued: "n", number: true, long: "--all --count --no-merges --merges --first-parent --reverse --left-right", longVal: "--max-count", longMay: "--since --until --author"}},
}

// git judges a command of git: a few options of git itself, then a subcommand in a form that only reads.
// The command runs with GitEnv.
func (l *listing) git(part *Part, s simple, at dirs) finding {
	args, at, f := l.gitGlobals(part, s, at)
	if len(args) == 0 {
		return f
	}
	repository := l.gitRepository(at)
	sub := args[0].value
	e, ok := gitForms[sub]
	plain, prints := gitPrints(args)
	switch {
	case prints && l.env.GitNames != nil:
		return f.worse(repository).worse(l.gitContent(part, plain, at))
	case sub == "grep" && l.env.GitNames != nil:
		return f.worse(repository).worse(l.gitGrep(part, args, at))
	case hasWord("blame annotate", sub):
		return f.worse(repository).worse(l.gitBlame(part, args, at))
	case gitLists(args):
		return f.worse(repository)
	case !ok:
		return f.worse(unlisted(s)).worse(repository)
	}
	f = f.worse(repository)
	if sub == "remote" && len(args) > 1 {
		f = f.worse(l.gitAddresses(part, at))
	}
	if sub == "remote" && len(args) > 1 && args[1].value == "get-url" {
		e = gitRemoteURL
		args = args[1:]
	}
	p, bad := e.parse(splitU(sub, args[1:]))
	if bad != "" {
		return f.worse(asks(Unlisted, "the option "+bad+" of git "+sub+" is not on the list of what only reads"))
	}
	if sub == "config" {
		return f.worse(l.gitConfigReads(part, p, at))
	}
	operands := l.gitOperands(part, e, p, at)
	if sub == "diff" && !p.has(gitSummaries...) {
		return f.worse(l.gitDiff(args[1:], p, at)).worse(operands)
	}
	other := func(w word) bool { return !headCommit().MatchString(w.value) }
	if sub == "show" && slices.ContainsFunc(p.operands, other) && l.gitCommits(args, at) {
		return f.worse(gitFormats(sub, p)).worse(operands) // it prints names of files only
	}
	return f.worse(gitSpecial(sub, p)).worse(operands)
}

// gitGlobals reads the options of git itself. It returns the words from the subcommand on, none where the
// finding is the verdict, and the directories in which the command runs.
func (l *listing) gitGlobals(part *Part, s simple, at dirs) (args []word, in dirs, f finding) {
	f = allowed()
	for args = s.args(); len(args) > 0 && strings.HasPrefix(args[0].value, "-"); {
		switch args[0].value {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs":
			args = args[1:]
		case "-C":
			if len(args) < 2 {
				return nil, at, unlisted(s)
			}
			f = f.worse(l.judgePath(part, args[1], at, false))
			at = l.moved(args[1], at, flow{ok: dirs{unknown: true}}).ok
			args = args[2:]
		default:
			return nil, at, asks(Unlisted, "the option "+args[0].value+" of git is not on the list of what only reads")
		}
	}
	if len(args) == 0 {
		f = f.worse(unlisted(s))
	}
	return args, at, f
}

// gitLists reports "git stash list" and "git worktree list".
func gitLists(args []word) bool {
	if len(args) < 2 || args[1].value != "list" {
		return false
	}
	switch args[0].value {
	case "stash":
		return len(args) == 2
	case "worktree":
		return len(args) == 2 || len(args) == 3 && hasWord("--porcelain -v --verbose", args[2].value)
	}
	return false
}

// listsRefs reports the subcommands that print refs, in a format with fields of its own.
func listsRefs(sub string) bool { return hasWord("branch tag for-each-ref", sub) }

// gitRemoteURL is the entry of "git remote get-url".
var gitRemoteURL = entry{args: argText, options: options{long: "--all --push"}}

// gitRepository asks about a repository whose configuration makes git run programs, in any of the
// directories in which git may run (C9).
func (l *listing) gitRepository(at dirs) finding {
	if at.unknown {
		return asks(Outside, "git runs in a directory that is not known")
	}
	for _, dir := range at.list {
		if l.env.GitPrograms != nil && l.env.GitPrograms(dir) {
			return asks(Interpreter, "the git configuration here may name programs to run")
		}
	}
	return finding{}
}

// gitAddresses asks about the addresses of remotes where another command of the text may print them in a
// form in which a user and password is not found.
func (l *listing) gitAddresses(part *Part, at dirs) finding {
	if part.Text == strings.TrimSpace(l.text) {
		return finding{}
	}
	for _, dir := range at.list {
		if l.env.GitHoldsAddress != nil && l.env.GitHoldsAddress(dir) {
			return asks(SecretRead, "the address of a remote holds a user and password")
		}
	}
	return finding{}
}

// splitU replaces "-uno" of git status by the long form, which the grammar can read.
func splitU(sub string, args []word) []word {
	if sub != "status" {
		return args
	}
	out := make([]word, 0, len(args))
	for _, w := range args {
		switch w.value {
		case "-u", "-uno", "-unormal", "-uall":
			w.value = "--untracked-files=" + w.value[2:]
		}
		out = append(out, w)
	}
	return out
}

// gitSpecial asks about what the grammar cannot express: operands that create a branch or a tag, objects
// whose content git prints, and formats that print content or run a program.
func gitSpecial(sub string, p parsed) finding {
	if f := gitFormats(sub, p); f.set {
		return f
	}
	listing := p.has("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") || sub == "tag" && p.has("-l")
	switch {
	case (sub == "branch" || sub == "tag") && len(p.operands) > 0 && !listing:
		return asks(Unlisted, "git "+sub+" with a name creates it")
	case sub == "show" && !p.has(gitSummaries...):
		return asks(Unlisted, "git "+sub+" prints content, which may be that of a file that holds secrets")
	case sub == "reflog" && len(p.operands) > 0 && p.operands[0].value != "show":
		return asks(Unlisted, "git reflog "+p.operands[0].value+" is not on the list of what only reads")
	case p.has("-S", "-G"):
		return asks(Unlisted, "git "+sub+" says whether files hold a text, which may be a secret")
	case sub == "cat-file" && !p.has("-e", "-t", "-s"):
		return asks(Unlisted, "git cat-file prints content, which may be that of a file that holds secrets")
	case sub == "status" && strings.Contains(p.seen["--porcelain"], "2"):
		return asks(Unlisted, "this form of git status names objects")
	}
	if listsRefs(sub) {
		if strings.Contains(p.seen["--sort"], "signature") {
			return asks(Interpreter, "sorting by signature runs the program that checks them")
		}
	}
	for _, w := range p.operands {
		if sub == "show" && !headCommit().MatchString(w.value) {
			return asks(Unlisted, w.value+" may be an object whose content git show prints")
		}
		if selectsByPattern(w.value) {
			return asks(Unlisted, w.value+" selects files by a pattern of git's own")
		}
	}
	return finding{}
}

// gitDiff allows a diff of the working tree, which shows tracked files and no history. With "--", all
// operands must follow it, since git takes those before it for revisions. Without "--", they must be
// existing files: git refuses a name that is both a file and a revision as ambiguous.
func (l *listing) gitDiff(args []word, p parsed, at dirs) finding {
	history := asks(Unlisted, "git diff prints content, which may be that of a file that holds secrets")
	if p.has("--cached", "--staged", "--merge-base", "--ext-diff", "--all") || l.env.GitHoldsSecret == nil || at.unknown {
		return history
	}
	for _, dir := range at.list {
		if l.env.GitHoldsSecret(dir) {
			return history
		}
	}
	paths := p.operands
	if i := slices.IndexFunc(args, func(w word) bool { return w.value == "--" }); i >= 0 {
		if len(args)-i-1 != len(p.operands) {
			return asks(Unlisted, "what stands before -- is a revision, and git diff would print content of history")
		}
		if len(paths) != 2 { // if one of two lies outside of the repository, git prints all of both
			paths = nil
		}
	}
	for _, w := range paths {
		names, ok := at.join(w.value)
		if !ok || revisionMarks(w.value) || l.env.Regular == nil || slices.ContainsFunc(names, func(name string) bool { return !l.env.Regular(name) }) {
			return asks(Unlisted, w.value+" may be a revision, and git diff would print content of history")
		}
	}
	for _, w := range p.operands {
		if selectsByPattern(w.value) {
			return asks(Unlisted, w.value+" selects files by a pattern of git's own")
		}
	}
	return finding{}
}

// gitOperands judges each operand as the path that it may be, and the path of "REV:PATH".
func (l *listing) gitOperands(part *Part, e entry, p parsed, at dirs) finding {
	if e.args == argNone && len(p.operands) > 0 {
		return asks(Unlisted, "git is given an operand that is not on the list of what only reads")
	}
	if e.args == argText {
		return finding{}
	}
	var f finding
	for _, w := range p.operands {
		if rev, name, ok := strings.Cut(w.value, ":"); ok && name != "" && !strings.Contains(rev, "/") {
			f = f.worse(l.judgePath(part, w.piece(name), at, e.args == argFiles))
			continue
		}
		f = f.worse(l.judgePath(part, w, at, e.args == argFiles))
	}
	return f
}

// gitCommandName returns "git" with the subcommand of a git command, for a reason.
func gitCommandName(s simple) string {
	return strings.TrimSuffix("git "+subcommand(s), " ")
}
