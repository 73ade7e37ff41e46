package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/capability"
)

// gitPrinters lists the subcommands of git that can print what files hold or once held, each with the words that
// make it do so; with none, it does so unless its words are known not to.
var gitPrinters = map[string]string{
	"show": "", "diff": "", "log": "", "reflog": "", "whatchanged": "", "diff-tree": "", "diff-index": "", "diff-files": "",
	"format-patch": "", "range-diff": "", "merge-tree": "", "blame": "", "annotate": "", "grep": "", "cat-file": "",
	"rev-list": "-p -u -U -L -c -W --patch --patch-with-raw --patch-with-stat --unified --cc --binary --word-diff --color-words --function-context --check --remerge-diff --diff-merges",
	"stash":    "show list -p --patch", "bisect": "view visualize",
	"add": "-p --patch -i --interactive -e --edit", "commit": "-p --patch --interactive -v --verbose", "status": "-v --verbose",
	"reset": "-p --patch", "checkout": "-p --patch", "restore": "-p --patch",
	"am": "--show-current-patch", "rebase": "--show-current-patch",
	"for-each-ref": "--format", "branch": "--format", "tag": "--format",
}

// gitShows says why a git command may show what a secret holds or once held, in a sandbox too: git needs its
// objects there. Where the words tell, git is asked for the names of the files that it would print, else for all
// names in its history. Empty: none is that of a secret. appends says that the command gets more arguments that
// are only known when it runs.
func (l *listing) gitShows(s simple, appends bool, at dirs) string {
	args := subcommandWords(s)
	if len(args) == 0 {
		return ""
	}
	options := s.args()[:len(s.args())-len(args)]
	configured := slices.ContainsFunc(options, func(w word) bool { return strings.HasPrefix(w.value, "-c") })
	known := !appends && !configured && allStatic(args) && !slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.value, "{}") })
	if !gitMayPrint(args, known) {
		return ""
	}
	name := gitCommandName(s)
	if anyObject(args) {
		return name + " prints objects of which no name is known"
	}
	if known && onlyObjectPaths(args) {
		return "" // the words name the files
	}
	at, ok := l.gitDirs(options, at)
	if !ok || l.env.GitNames == nil || l.env.GitHistory == nil {
		return name + historyUnknown
	}
	if known {
		if names, ok := l.gitNamesTold(at, args); ok {
			return l.judgeGitNames(name+" would print", names).reason
		}
	}
	for _, dir := range at.list {
		if why := l.gitOnceHeld(name, dir); why != "" {
			return why
		}
	}
	return ""
}

// gitNamesTold returns the files that a command would print, where its words tell.
func (l *listing) gitNamesTold(at dirs, args []word) (names []string, ok bool) {
	lookups := [][]string{{"diff"}, {"diff", "--cached"}} // what is not committed
	if amends := hasOption(values(args), "--amend"); amends || !hasWord("status add commit", args[0].value) {
		words, ok := gitQuestion(args)
		if !ok {
			return nil, false
		}
		lookups = [][]string{words}
	}
	for _, words := range lookups {
		found, ok := l.gitNames(at, words)
		if !ok {
			return nil, false
		}
		names = append(names, found...)
	}
	return names, true
}

// movingRevisions asks about a command of git that prints content in a text that may first give its words another
// meaning, by a commit or a branch: what git said of them is then past, and all names in the history count.
func movingRevisions(v Verdict, env Env) Verdict {
	moves := slices.IndexFunc(v.Parts, Part.movesRevisions)
	if moves < 0 {
		return v
	}
	l := listing{paths: newPaths(env)}
	for i, p := range v.Parts {
		if i == moves && !slices.ContainsFunc(v.Parts[i+1:], Part.movesRevisions) {
			continue // nothing else does
		}
		for _, dir := range p.askedIn {
			if why := l.gitOnceHeld(p.gitCommand(), dir); why != "" {
				v.Parts[i].raise(asks(SecretRead, why))
			}
		}
	}
	return v
}

// movesRevisions reports a command of git that is not known to only read or print: a commit or a branch may be another
// one after it.
func (p Part) movesRevisions() bool {
	if p.Action != capability.Ask || len(p.Argv) == 0 || path.Base(p.Argv[0]) != "git" {
		return false
	}
	sub := strings.TrimPrefix(p.gitCommand(), "git ")
	with, prints := gitPrinters[sub]
	return sub != "status" && (!prints || with != "")
}

// gitCommand returns "git" with the subcommand of a part.
func (p Part) gitCommand() string {
	words := make([]word, len(p.Argv))
	for i, value := range p.Argv {
		words[i] = knownWord(value)
	}
	return gitCommandName(newSimple(words, nil, dirs{}))
}

// gitOnceHeld says which secret the history of a directory's repository holds, or that this is not known.
func (l *listing) gitOnceHeld(name, dir string) string {
	if l.env.GitHistory == nil {
		return name + historyUnknown
	}
	names, ok := l.env.GitHistory(dir)
	if !ok {
		return name + historyUnknown
	}
	return l.judgeGitNames(name+" may print what was once in", names).reason
}

// historyUnknown is what follows the name of a command where git could not be asked about its history.
const historyUnknown = " may print what a secret once held, and the names in the history could not be found out"

// misleadsGit reports the name of a variable that may give git another repository or other settings than it has when
// it is asked for names, and the options with which a wrapper changes the directory.
func misleadsGit(word string) bool {
	name := optionName(word)
	return otherDirectory().MatchString(word) || strings.HasPrefix(name, "GIT_") && !plainGitVariable().MatchString(name)
}

var (
	otherDirectory = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-[a-zA-Z]*C|--ch)`) })
	// plainGitVariable matches the variables of git that do not change what it reads, and names that scripts give to
	// their own.
	plainGitVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|PAGER|EDITOR|SEQUENCE_EDITOR|TERMINAL_PROMPT|MERGE_AUTOEDIT|OPTIONAL_LOCKS|` +
			`SSH|SSH_COMMAND|ASKPASS|LFS_SKIP_SMUDGE|SHA|HASH|COMMIT|BRANCH|TAG|REV|REVISION|ROOT|URL|REPO|REMOTE|USER|NAME|STATUS|LOG|VERSION)$`)
	})
)

// gitDirs returns the directories in which git works after its own options. It returns false where they may
// name another repository.
func (l *listing) gitDirs(options []word, at dirs) (dirs, bool) {
	for i := 0; i < len(options); i++ {
		switch options[i].value {
		case "--no-pager", "-P", "-p", "--paginate", "--no-optional-locks", "--literal-pathspecs":
		case "-c":
			i++
		case "-C":
			if i++; i < len(options) {
				at = l.moved(options[i], at, flow{ok: dirs{unknown: true}}).ok
			}
		default:
			return at, false
		}
	}
	return at, at.known()
}

// gitMayPrint reports a subcommand of git, with its arguments, that may print what files hold or once held.
// known says that all of its words are known.
func gitMayPrint(args []word, known bool) bool {
	sub, rest := args[0].value, values(args[1:])
	with, prints := gitPrinters[sub]
	switch {
	case !prints || with != "" && !hasOption(rest, with):
		return false
	case listsRefs(sub): // %(raw) is the content of what a ref names
		return !known || strings.Contains(strings.Join(rest, " "), "raw")
	case !known:
		return true
	}
	if end := slices.Index(rest, "--"); end >= 0 {
		rest = rest[:end]
	}
	switch sub {
	case "blame", "annotate": // of the one file that it names
		return false
	case "diff":
		return !(len(rest) > 0 && rest[0] == "--no-index") && !gitNamesOnly(args, gitSummaries) // no file of history
	case "cat-file":
		return !slices.ContainsFunc(rest, func(a string) bool { return hasWord("-e -t -s", a) || strings.HasPrefix(a, "--batch-check") })
	case "merge-tree": // the older form, of three trees, prints what differs
		two := len(rest) == 2 && !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[1], "-")
		return !two && !slices.Contains(rest, "--write-tree")
	case "log", "reflog", "whatchanged", "diff-tree", "diff-index", "diff-files", "stash":
		return !gitNamesOnly(args, nil)
	}
	return true
}

// gitQuiet accepts further options of the commands that print commits and differences, which print no content.
var gitQuiet = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-[rtM]+|--(raw|root|stdin|no-commit-id|always|pretty|parents|children|boundary|source|ancestry-path|author-date-order|` +
		`simplify-merges|show-pulls|find-copies-harder|walk-reflogs|no-walk|not|reflog|mailmap|no-mailmap|notes|full-index|no-abbrev))$`)
})

// gitNamesOnly reports a command that prints names, numbers and messages only. It has one of the options in
// demanded, if there are any.
func gitNamesOnly(args []word, demanded []string) bool {
	rest := slices.DeleteFunc(slices.Clone(args[1:]), func(w word) bool { return gitQuiet().MatchString(w.value) })
	if args[0].value == "stash" {
		if len(rest) == 0 || rest[0].value != "list" {
			return false
		}
		rest = rest[1:]
	}
	p, bad := gitForms["log"].parse(rest)
	_, prints := gitPrints(append([]word{knownWord("log")}, rest...))
	return bad == "" && !prints && !gitFormats("log", p).set && (len(demanded) == 0 || p.has(demanded...))
}

// gitOptionDropped accepts the options with which a command prints the same files, or fewer, than without them. An
// option that takes a value has it attached.
var gitOptionDropped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-[pucrtszaMCDBRWk]+|-[BMCU][0-9]+%?|--(patch|patch-with-stat|patch-with-raw|raw|binary|cc|full-index|text|find-copies-harder|` +
		`function-context|no-prefix|check|name-only|name-status|compact-summary|no-patch|no-commit-id|no-notes|parents|children|source|no-mailmap|mailmap|` +
		`stdout|keep-subject|no-signature|no-stat|zero-commit|numbered|no-numbered)|` +
		`--(find-renames|find-copies|word-diff|color-words|color-moved|dirstat|notes)(=.*)?|` +
		`--(word-diff-regex|unified|inter-hunk-context|src-prefix|dst-prefix|ws-error-highlight|diff-filter|diff-algorithm)=.*)$`)
})

// gitQuestion returns the words with which git can be asked for the files that a command would print, in the form
// of Env.GitNames. It returns false where the words do not tell.
func gitQuestion(args []word) (words []string, ok bool) {
	rest := args[1:]
	sub := args[0].value
	if sub == "stash" {
		if len(rest) == 0 || rest[0].value != "show" || slices.ContainsFunc(rest, func(w word) bool { return shortOption(w.value, 'u') }) {
			return nil, false
		}
		rest = rest[1:]
	}
	var kept, revisions []word
	ended := false
	for _, w := range rest {
		ended = ended || w.value == "--"
		if !ended && gitOptionDropped().MatchString(w.value) {
			continue
		}
		kept = append(kept, w)
		if !ended && !strings.HasPrefix(w.value, "-") {
			revisions = append(revisions, w)
		}
	}
	if !gitCanBeAsked(kept, false) {
		return nil, false
	}
	if slices.ContainsFunc(revisions, func(w word) bool { return strings.Contains(w.value, ":") }) {
		return nil, false
	}
	switch sub {
	case "stash":
		words = []string{"stash", "show"}
	case "log", "whatchanged":
		words = []string{"log"}
	case "show", "diff":
		words = []string{sub}
	case "diff-index", "diff-files":
		words = []string{"diff"}
	case "diff-tree":
		switch {
		case len(revisions) == 1:
			words = []string{"show"}
		case len(revisions) == 2 && (ended || surelyCommit().MatchString(revisions[1].value)):
			words = []string{"diff"}
		default:
			return nil, false
		}
	case "format-patch": // passes over merges, which count for log
		words = []string{"log", "--no-merges"}
		switch {
		case len(revisions) > 1 || slices.ContainsFunc(kept, func(w word) bool { return w.value == "-n" }):
			return nil, false
		case len(revisions) == 0 || strings.Contains(revisions[0].value, ".."):
		case len(kept) == 1: // one revision is where the range begins
			kept = []word{knownWord(revisions[0].value + "..HEAD")}
		default:
			return nil, false
		}
	default:
		return nil, false
	}
	return append(words, values(kept)...), true
}

// anyObject reports a git cat-file that prints every object, including objects that no commit names.
func anyObject(args []word) bool {
	return args[0].value == "cat-file" && slices.ContainsFunc(args, func(w word) bool { return strings.HasPrefix(w.value, "--batch-a") })
}
