package command

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
)

// gitHubReads lists the subcommands of gh that only ask GitHub, by topic.
var gitHubReads = map[string]string{
	"pr": "list view diff checks status", "issue": "list view status", "run": "list view watch", "repo": "list view",
	"release": "list view", "workflow": "list view", "gist": "list view", "label": "list", "cache": "list",
	"ruleset": "list view check", "org": "list", "project": "list view field-list item-list", "variable": "list get",
	"search": "code commits issues prs repos",
}

// The options with which gh api only asks. One with a value has it in the next word, or after "=".
const (
	gitHubAPIOptions = "--paginate --slurp --include -i --silent --verbose"
	gitHubAPIValued  = "--jq -q --template -t --preview -p"
)

// readsGitHub reports a command of gh that is known to change nothing there, and to start nothing here.
func readsGitHub(s simple) bool {
	args := s.args()
	switch {
	case len(args) == 0 || !allStatic(args) || s.words[0].value != "gh" || slices.ContainsFunc(values(args), opensBrowser):
		return false
	case args[0].value == "status", slices.Equal(values(args), []string{"auth", "status"}):
		return true
	case args[0].value == "api":
		return readsGitHubAPI(values(args[1:]))
	}
	return len(args) > 1 && args[0].value != "" && hasWord(gitHubReads[args[0].value], args[1].value)
}

// opensBrowser reports --web, or -w among options of a letter.
func opensBrowser(option string) bool {
	return strings.HasPrefix(option, "--web") || strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "w")
}

// readsGitHubAPI reports arguments of gh api that send a GET without fields to the host of the API.
func readsGitHubAPI(args []string) bool {
	endpoints := 0
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			endpoints++
			// The queries of graphql are sent with POST, and may change things. A placeholder may stand for
			// anything, such as the beginning of an address.
			if strings.Contains(args[i], "graphql") || strings.Contains(args[i], "//") || strings.Contains(args[i], "..") || strings.HasPrefix(args[i], "{") || strings.HasPrefix(args[i], ":") {
				return false
			}
		case hasWord(gitHubAPIOptions, args[i]):
		case hasWord(gitHubAPIValued, name):
			if !joined {
				i++
			}
		case hasWord("-X --method", args[i]) && i+1 < len(args) && args[i+1] == "GET":
			i++
		default:
			return false
		}
	}
	return endpoints == 1
}

// gitHubInstead names what does the work of the forms of gh that get no login because they start git, by topic and subcommand.
var gitHubInstead = map[string]string{
	"pr create":      "git push, and then gh api repos/OWNER/REPO/pulls -f title=… -f body=… -f head=BRANCH -f base=BRANCH",
	"pr checkout":    "git fetch origin pull/NUMBER/head:BRANCH, and then git switch BRANCH",
	"repo clone":     "git clone https://github.com/OWNER/REPO",
	"release create": "gh api repos/OWNER/REPO/releases -f tag_name=… -f name=… -f body=…",
}

// gitHub finds Verdict.GitHub, Verdict.GitHubAlone and Verdict.GitHubInstead.
func gitHub(v Verdict, file *syntax.File) (used, alone bool, instead string) {
	alone = true
	for _, p := range v.Parts {
		if len(p.Argv) > 2 && p.Argv[0] == "gh" {
			instead = cmp.Or(instead, gitHubInstead[p.Argv[1]+" "+p.Argv[2]])
		}
		switch runs := len(p.Argv) > 0 && newSimple([]word{{value: p.Argv[0]}}, nil, dirs{}).name() == "gh"; {
		case runs:
			used = used || len(p.Argv) != 2 || !hasWord("--version --help version help", p.Argv[1])
		case p.Action != capability.Allow:
			alone = false
		}
	}
	return used, used && alone && !slices.ContainsFunc(file.Stmts, besideGitHub), instead
}

// besideGitHub reports a statement that is more than commands of gh and of printers: the login would be known to
// whatever else runs in it.
func besideGitHub(stmt *syntax.Stmt) bool {
	if stmt.Background || stmt.Coprocess || slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool { return !discards(r) }) {
		return true
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return besideGitHub(c.X) || besideGitHub(c.Y)
	case *syntax.CallExpr:
		var words []string
		for _, w := range c.Args {
			text, literal := literalText(w)
			if !literal {
				return true
			}
			words = append(words, text)
		}
		return len(c.Assigns) > 0 || len(words) == 0 || !printsInput(words[0], words[1:]) && (words[0] != "gh" || mayTellLogin(words[1:]))
	}
	return true
}

// GitHubPrinters lists the programs that may stand beside gh where it gets the user's login, without files: what a
// name leads to may be another file when the command runs, such as the environment of a process.
const GitHubPrinters = "cat head tail wc cut grep tr echo true cd"

// printerOptions lists the letters of the options of printers: flags, and those with a value.
var printerOptions = map[string]struct{ flags, valued string }{
	"cat": {"AbeEnstTuv", ""}, "wc": {"clmwL", ""}, "head": {"qv0123456789", "nc"}, "tail": {"qv0123456789", "nc"}, "cut": {"s", "fdcb"},
}

// printsInput reports a printer that reads its input and no file, and prints nothing of its environment.
func printsInput(program string, args []string) bool {
	switch program {
	case "tr", "echo", "true":
		return true
	case "cd":
		return len(args) == 1 && !strings.HasPrefix(args[0], "-")
	case "grep":
		patterns := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
			return strings.HasPrefix(arg, "-") && strings.Trim(arg[1:], "ivcnoEFwxqh") == "" && arg != "-"
		})
		return len(patterns) == 1 && !strings.HasPrefix(patterns[0], "-")
	}
	letters, known := printerOptions[program]
	for i := 0; known && i < len(args); i++ {
		option, isOption := strings.CutPrefix(args[i], "-")
		switch {
		case !isOption || option == "":
			return false
		case strings.Trim(option, letters.flags) == "":
		case !strings.ContainsRune(letters.valued, rune(option[0])):
			return false
		case len(option) == 1: // its value is the next word
			if i++; i == len(args) || strings.HasPrefix(args[i], "-") {
				return false
			}
		}
	}
	return known
}

// discards reports a redirection to no file: 2>&1, or one to /dev/null.
func discards(r *syntax.Redirect) bool {
	switch to := r.Word.Lit(); r.Op {
	case syntax.DplOut:
		return to == "1" || to == "2"
	case syntax.RdrOut, syntax.RdrAll:
		return to == "/dev/null"
	}
	return false
}

// literalText returns the text of a word that the shell does not expand in any way.
func literalText(w *syntax.Word) (text string, literal bool) {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, `*?[]{}~\`) {
				return "", false
			}
			text += part.Value
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			text += part.Value
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				quoted, ok := inner.(*syntax.Lit)
				if !ok || part.Dollar || strings.Contains(quoted.Value, `\`) {
					return "", false
				}
				text += quoted.Value
			}
		default:
			return "", false
		}
	}
	return text, true
}

// gitHubChanges lists the subcommands of gh that change something at GitHub, start no git and read no file, by topic,
// and the constants their options; all but those of gitHubFlags have a value in the next word, or after "=".
var gitHubChanges = map[string]string{
	"issue": "create comment close reopen edit lock unlock pin unpin", "pr": "comment review merge close reopen ready edit lock unlock",
	"run": "rerun cancel", "workflow": "run enable disable", "label": "create edit delete",
}

const (
	gitHubChangeOptions = "-t -b --label -l --add-label --remove-label --assignee -a --add-assignee --remove-assignee --add-reviewer " +
		"--milestone -m --reason -r --repo -R --comment -c --ref -f --base -B --color -d --name --method -X --job -j"
	// gitHubTexts have values that gh passes on as they are, whatever they hold.
	gitHubTexts = "--title --body --subject --description --raw-field"
	gitHubFlags = "--squash -s --merge --rebase --auto --disable-auto --admin --approve --request-changes --failed --undo --yes --force"
)

// mayTellLogin reports arguments of gh with which it may print its token or pass it on: all but those that are known to only ask
// GitHub, or to change something there, without a file, a browser, another host, a program, or a filter of jq that reads
// the environment.
func mayTellLogin(args []string) bool {
	if texts, changes := changesGitHub(args); changes {
		return slices.ContainsFunc(withoutIndices(args, texts), leadsElsewhere)
	}
	s := simple{argv: []string{"gh"}, words: []word{{value: "gh", static: true}}}
	for _, arg := range args {
		s.words, s.argv = append(s.words, word{value: arg, static: true}), append(s.argv, arg)
	}
	return !readsGitHub(s) || slices.ContainsFunc(args, leadsElsewhere)
}

// leadsElsewhere reports an argument that may name another host or be a filter that reads the environment, and the end of the
// options.
func leadsElsewhere(arg string) bool {
	lower := strings.ToLower(arg)
	return arg == "--" || strings.Contains(lower, "env") || strings.Contains(lower, ".localhost") || strings.Contains(lower, "ghe.com") || strings.Contains(lower, "://")
}

func withoutIndices(args []string, indices []int) (rest []string) {
	for i, arg := range args {
		if !slices.Contains(indices, i) {
			rest = append(rest, arg)
		}
	}
	return rest
}

// changesGitHub reports arguments of gh that are a change of [gitHubChanges], or of gh api with fields in place. texts are the
// indices of those that are values of [gitHubTexts].
func changesGitHub(args []string) (texts []int, changes bool) {
	switch {
	case len(args) < 2 || args[0] == "" || strings.HasPrefix(args[1], ":") || strings.HasPrefix(args[1], "{"):
		return nil, false
	case args[0] == "api" && !strings.HasPrefix(args[1], "-"):
	case !hasWord(gitHubChanges[args[0]], args[1]):
		return nil, false
	}
	// An -f of gh pr or gh issue is another option, and -d of pr deletes a branch by git.
	other := args[0] == "pr" || args[0] == "issue"
	for i := 2; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
		case other && hasWord("-f -d", name):
			return nil, false
		case hasWord(gitHubFlags, args[i]):
		case hasWord(gitHubTexts, name) || args[0] == "api" && args[i] == "-f" || other && hasWord("-b -t", args[i]):
			if !joined {
				i++
			}
			texts = append(texts, i)
		case hasWord(gitHubChangeOptions, name) && (strings.HasPrefix(name, "--") || !joined):
			if !joined {
				i++ // of some commands the letter is a flag, and the next word would be an option
			}
			if i < len(args) && !joined && strings.HasPrefix(args[i], "-") {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return texts, true
}
