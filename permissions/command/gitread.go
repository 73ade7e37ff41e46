package command

import (
	"strings"
)

// The gitShow constants hold the options that log, show and diff share.
const (
	gitShowFlags = "psnzwbRiqvacC"
	gitShowLong  = "--oneline --graph --all --stat --shortstat --numstat --name-only --name-status --patch --no-patch --summary --raw " +
		"--patch-with-stat --abbrev-commit --no-abbrev-commit --no-merges --merges --first-parent --reverse --follow --cached --staged " +
		"--no-color --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --exit-code --quiet --check --no-ext-diff --no-textconv " +
		"--no-renames --tags --branches --remotes --left-right --cherry-pick --simplify-by-decoration --topo-order --date-order " +
		"--full-history --minimal --patience --histogram --pickaxe-all --pickaxe-regex --merge-base --full-index --binary --text " +
		"--no-decorate --no-notes --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match --invert-grep --relative-date --compact-summary --no-prefix"
	gitShowVal = "--max-count --skip --since --after --until --before --author --committer --grep --date --unified --diff-filter --diff-algorithm --encoding --inter-hunk-context"
	gitShowMay = "--pretty --format --decorate --abbrev --word-diff --color --find-renames --find-copies --dirstat --relative --stat-width --color-words --stat --submodule --color-moved --tags --branches --remotes --since --until --after --before"
)

// gitForms lists the reading subcommands with the options that were looked at.
var gitForms = map[string]entry{
	"status": {args: argNames, options: options{
		flags: "sbvz", long: "--short --branch --long --verbose --show-stash --ahead-behind --no-ahead-behind --no-renames",
		longMay: "--porcelain --untracked-files --ignored --find-renames --column",
	}},
	"log":  {args: argFiles, options: options{flags: gitShowFlags + "gNt", valued: "nUSGL", number: true, long: gitShowLong, longVal: gitShowVal, longMay: gitShowMay}},
	"show": {args: argFiles, options: options{flags: gitShowFlags, valued: "nUSG", number: true, long: gitShowLong, longVal: gitShowVal, longMay: gitShowMay}},
	"diff": {args: argFiles, options: options{flags: gitShowFlags, valued: "USG", long: gitShowLong, longVal: gitShowVal, longMay: gitShowMay}},
	"branch": {args: argText, options: options{
		flags: "arviq", long: "--list --all --remotes --show-current --verbose --ignore-case --no-color --no-column",
		longMay: "--contains --no-contains --merged --no-merged --color --column --abbrev", longVal: "--sort --format --points-at",
	}},
	"rev-parse": {args: argFiles, options: options{
		flags: "q", long: "--abbrev-ref --show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --is-inside-git-dir --verify --quiet --symbolic --symbolic-full-name --is-bare-repository --git-common-dir --absolute-git-dir --is-shallow-repository --show-superproject-working-tree",
		longMay: "--short --abbrev-ref",
	}},
	"remote":     {args: argNone, options: options{flags: "v", long: "--verbose"}},
	"ls-files":   {args: argNames, options: options{flags: "cdmosutvz", long: "--cached --deleted --modified --others --stage --exclude-standard --full-name --unmerged", longVal: "--exclude"}},
	"tag":        {args: argText, options: options{flags: "il", long: "--list --ignore-case --no-column", valued: "", number: false, longVal: "--sort --format --points-at", longMay: "--contains --merged --no-merged --column --color"}},
	"describe":   {args: argText, options: options{long: "--tags --all --always --long --dirty --exact-match --first-parent", longVal: "--abbrev --match --exclude --candidates"}},
	"blame":      {args: argFiles, options: options{flags: "wlstefnpMC", valued: "L", long: "--porcelain --line-porcelain --show-email --show-name", longVal: "--date --since --abbrev"}},
	"shortlog":   {args: argFiles, options: options{flags: "sne", long: "--summary --numbered --email --all --no-merges", longVal: "--since --until --author"}},
	"merge-base": {args: argText, options: options{flags: "a", long: "--all --is-ancestor --octopus --fork-point"}},
	"rev-list":   {args: argFiles, options: options{valued: "n", number: true, long: "--all --count --no-merges --merges --first-parent --reverse --left-right", longVal: "--max-count --since --until --author"}},
}

// git judges git: a few global options, then the reading form of a subcommand. The
// launcher adds GitEnv to what is judged here.
func (j *judge) git(part *Part, s simple, at dirs) finding {
	args := s.args()
	f := allowed()
	for len(args) > 0 && strings.HasPrefix(args[0].value, "-") {
		switch args[0].value {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs":
			args = args[1:]
		case "-C":
			if len(args) < 2 {
				return unlisted(s)
			}
			f = f.worse(j.operand(part, args[1], at, false))
			at = j.moved(args[1], at, flow{ok: dirs{unknown: true}}).ok
			args = args[2:]
		default:
			return asks(Unlisted, "the option "+args[0].value+" of git is not on the list of what only reads")
		}
	}
	if len(args) == 0 {
		return f.worse(unlisted(s))
	}
	sub := args[0].value
	if j.env.GitPrograms {
		f = f.worse(asks(Interpreter, "the configuration of this repository names programs that git would run"))
	}
	if sub == "stash" && len(args) == 2 && args[1].value == "list" {
		return f
	}
	e, ok := gitForms[sub]
	if !ok {
		return f.worse(unlisted(s))
	}
	p, bad := e.parse(splitU(sub, args[1:]))
	if bad != "" {
		return f.worse(asks(Unlisted, "the option "+bad+" of git "+sub+" is not on the list of what only reads"))
	}
	return f.worse(gitSpecial(sub, p)).worse(j.gitOperands(part, e, p, at))
}

// splitU gives "git status -uno" the long form that the grammar knows.
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

// gitSpecial refuses what the grammar cannot say: operands that create a branch or a
// tag, and formats that run a signature checker.
func gitSpecial(sub string, p parsed) finding {
	for _, opt := range []string{"--format", "--pretty"} {
		if strings.Contains(p.seen[opt], "%G") {
			return asks(Interpreter, "the format runs a program that checks signatures")
		}
	}
	listing := p.has("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") || sub == "tag" && p.has("-l")
	if (sub == "branch" || sub == "tag") && len(p.operands) > 0 && !listing {
		return asks(Unlisted, "git "+sub+" with a name creates it")
	}
	return finding{}
}

// gitOperands checks each operand as the path that it may be; what stands behind the
// colon of "REV:PATH" is a path in any case.
func (j *judge) gitOperands(part *Part, e entry, p parsed, at dirs) finding {
	if e.args == argNone && len(p.operands) > 0 {
		return asks(Unlisted, "git is given an operand that is not on the list of what only reads")
	}
	if e.args == argText {
		return finding{}
	}
	var f finding
	for _, w := range p.operands {
		if rev, name, ok := strings.Cut(w.value, ":"); ok && name != "" && !strings.Contains(rev, "/") {
			f = f.worse(j.operand(part, word{value: name, raw: w.raw, static: w.static}, at, e.args == argFiles))
			continue
		}
		f = f.worse(j.operand(part, w, at, e.args == argFiles))
	}
	return f
}
