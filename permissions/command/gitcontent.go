package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/capability"
)

// gitContents lists the options with which log, show, diff and stash show print the content of files.
var gitContents = []string{"-p", "-u", "--patch", "--patch-with-stat", "-W", "--function-context"}

// gitPrints reports a git command that prints the content of files, present or former. args are its words
// from the subcommand on, plain those without the options that only ask for the content.
func gitPrints(args []word) (plain []word, prints bool) {
	sub := args[0].value
	summary := false
	for _, w := range args {
		lines, unified := strings.CutPrefix(w.value, "-U")
		switch {
		case sub == "stash" && w.value == "-u": // there it adds what git did not track
		case slices.Contains(gitContents, w.value), unified && threeDigits(lines), strings.HasPrefix(w.value, "--unified=") && threeDigits(w.value[len("--unified="):]):
			prints = true
			continue
		case slices.Contains(gitSummaries, optionName(w.value)):
			summary = true
		case gitSearches(w.value):
			prints = true // whether files hold a text
		}
		plain = append(plain, w)
	}
	switch sub {
	case "diff", "show":
		return plain, prints || !summary
	case "log":
		return plain, prints
	case "stash":
		return plain, len(args) > 1 && args[1].value == "show" && prints
	}
	return plain, false
}

// gitSearches reports the options with which log looks for a text in what commits change.
func gitSearches(option string) bool {
	return strings.HasPrefix(option, "-S") || strings.HasPrefix(option, "-G")
}

// gitContent judges a git command that prints the content of files. It first asks git for their names,
// since only git can tell a name from a revision; none may be that of a secret.
func (l *listing) gitContent(part *Part, args []word, at dirs) finding {
	sub := args[0].value
	askable := gitCanBeAsked(args[1:], false)
	grammar := sub
	if sub == "stash" {
		grammar, args = "diff", args[1:]
	}
	p, bad := gitForms[grammar].parse(args[1:])
	if sub == "diff" && bad == "" {
		// Without revisions, git need not be asked.
		f := allowed().worse(l.gitDiff(args[1:], p, at)).worse(l.gitOperands(part, gitForms[grammar], p, at))
		if f.action != capability.Ask {
			return f
		}
	}
	switch {
	case !askable:
		return asks(Unlisted, "git "+sub+" prints content, and has options with which it cannot be asked of which files")
	case bad != "":
		return asks(Unlisted, "the option "+bad+" of git "+sub+" is not on the list of what only reads")
	case !at.known():
		return asks(Outside, "git runs in a directory that is not known")
	}
	if f := gitFormats(grammar, p); f.set {
		return f
	}
	f := l.gitOperands(part, gitForms[grammar], p, at)
	if f.notAllowed() {
		return f
	}
	if sub == "show" && len(p.operands) > 0 && !slices.ContainsFunc(p.operands, func(w word) bool { return !objectPath(w.value) }) {
		return allowed() // the path of each was judged above
	}
	if slices.ContainsFunc(p.operands, func(w word) bool { return strings.Contains(w.value, ":") && !leavesOut(w.value) }) {
		return asks(Unlisted, "git "+sub+" is given a pattern or an object among others, which may be a file that holds secrets")
	}
	words := []string{sub}
	if sub == "stash" {
		words = append(words, "show")
	}
	names, ok := l.gitNames(at, append(words, values(args[1:])...))
	if !ok {
		return asks(Unlisted, "git "+sub+" prints content, and of which files could not be found out")
	}
	if f := l.judgeGitNames("git "+sub+" would print", names); f.set {
		return f
	}
	return allowed()
}

// gitNames returns the files whose content a git command would print, in all directories in which it may
// run.
func (l *listing) gitNames(at dirs, words []string) (names []string, ok bool) {
	for _, dir := range at.list {
		l.askedIn = append(l.askedIn, dir)
		found, ok := l.env.GitNames(dir, words)
		if !ok {
			return nil, false
		}
		names = append(names, found...)
	}
	return names, true
}

// judgeGitNames judges the files whose content a git command would print. would begins the reason.
func (l *listing) judgeGitNames(would string, names []string) finding {
	inside := insideText(l.env.Roots)
	for _, name := range names {
		if l.env.Secret(name) || l.env.Secret(filepath.Base(name)) {
			return asks(SecretRead, would+" "+name+", which holds secrets")
		}
		if _, ok := inside(name); !ok {
			return asks(Outside, would+" "+name+", which lies outside the workspace")
		}
	}
	return finding{}
}

// gitOptionAsked accepts the options that do not change which files a command is about, with their values
// attached: what git answers about the names and what it later prints cannot differ. Options that find
// renames, select files or print nothing are left out.
var gitOptionAsked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-[0-9]+|-n[0-9]+|-[wb]|--(oneline|graph|all|cached|staged|first-parent|reverse|merges|no-merges|abbrev-commit|no-color|` +
		`decorate|no-decorate|no-renames|no-ext-diff|no-textconv|exit-code|minimal|patience|histogram|topo-order|date-order|` +
		`ignore-all-space|ignore-space-change|ignore-space-at-eol|ignore-blank-lines|stat|numstat|shortstat|summary|` +
		`(max-count|skip|abbrev)=[0-9]+|(color|decorate|branches|tags|remotes|since|until|after|before|date|format|pretty|author|committer|grep)=.*))$`)
})

// gitOptionSummarizes accepts the further options of a command that prints no content.
var gitOptionSummarizes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-s|--(no-patch|name-only|name-status|compact-summary|dirstat))$`)
})

// gitCanBeAsked reports whether all options of a command, up to "--", are among these.
func gitCanBeAsked(args []word, summarizes bool) bool {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.value == "--":
			return true
		case !strings.HasPrefix(w.value, "-"), gitOptionAsked().MatchString(w.value):
		case w.value == "-n" && i+1 < len(args) && threeDigits(args[i+1].value), hasWord("-S -G", w.value) && i+1 < len(args) && args[i+1].value != "--":
			i++
		case gitSearches(w.value) && len(w.value) > 2:
		case summarizes && gitOptionSummarizes().MatchString(w.value):
		default:
			return false
		}
	}
	return true
}

// gitCommits reports whether every revision of a command is a commit, of which git then prints names and
// numbers only.
func (l *listing) gitCommits(args []word, at dirs) bool {
	if l.env.GitNames == nil || !at.known() || !gitCanBeAsked(args[1:], true) {
		return false
	}
	_, ok := l.gitNames(at, values(args))
	return ok
}

// gitGrepOption accepts the vetted options of git grep, with their values attached. With none of them it
// reads what git does not track, runs a pager, or reads a file of patterns.
var gitGrepOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-[nilcwvhHIEFGPaoqr]+|-[ABCm]?[0-9]+|--(line-number|ignore-case|count|files-with-matches|name-only|full-name|` +
		`extended-regexp|fixed-strings|perl-regexp|basic-regexp|word-regexp|invert-match|heading|break|cached|no-color|recursive|only-matching|text))$`)
})

// gitGrepMatching holds the short options of git grep that change what matches.
const gitGrepMatching = "iwvIEFGPa"

// gitGrep judges a search of what git tracks, in the working tree or in commits. It first asks git which
// files match.
func (l *listing) gitGrep(part *Part, args []word, at dirs) finding {
	if !at.known() {
		return asks(Outside, "git runs in a directory that is not known")
	}
	words, rest := []string{"grep"}, args[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") {
		option := rest[0].value
		if !gitGrepOption().MatchString(option) {
			return asks(Unlisted, "the option "+option+" of git grep is not on the list of what only reads")
		}
		rest = rest[1:]
		if strings.HasPrefix(option, "--") {
			words = append(words, option)
			continue
		}
		if matching := strings.Map(func(r rune) rune {
			if strings.ContainsRune(gitGrepMatching, r) {
				return r
			}
			return -1
		}, option); matching != "" {
			words = append(words, "-"+matching)
		}
	}
	if len(rest) == 0 {
		return asks(Unlisted, "git grep is given no pattern")
	}
	if slices.ContainsFunc(rest[1:], func(w word) bool {
		return strings.HasPrefix(w.value, "-") && w.value != "--" || selectsByPattern(w.value)
	}) {
		return asks(Unlisted, "git grep is given options or patterns of git's own after its pattern")
	}
	f := l.gitOperands(part, entry{args: argFiles}, parsed{operands: rest[1:]}, at)
	if f.notAllowed() {
		return f
	}
	words = append(words, "-e", rest[0].value)
	names, ok := l.gitNames(at, append(words, values(rest[1:])...))
	if !ok {
		return asks(Unlisted, "git grep prints content, and of which files could not be found out")
	}
	if f := l.judgeGitNames("git grep would print", names); f.set {
		return f
	}
	return allowed()
}
