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
			if !plainEndpoint(args[i], true) {
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

// plainEndpoint reports an endpoint of gh api that names, whatever the project's remotes and branch are, a path of the
// API without graphql, whose queries may change things and are sent with POST. gh takes a text that holds "://" for the
// address, so what is put in for a placeholder must not come to stand at the beginning.
func plainEndpoint(endpoint string, placeholders bool) bool {
	if strings.Contains(endpoint, "graphql") || strings.Contains(endpoint, "//") || strings.Contains(endpoint, "..") || strings.ContainsAny(endpoint, `#\`) {
		return false
	}
	name, query, _ := strings.Cut(strings.TrimPrefix(endpoint, "/"), "?")
	segments := strings.Split(name, "/")
	if segments[0] == "" || strings.ContainsAny(segments[0], "{:") || !placeholders && hasPlaceholder(query) {
		return false
	}
	for i, segment := range segments {
		switch {
		case !hasPlaceholder(segment):
		case !placeholders || segments[0] != "repos":
			return false
		case i == 1 && hasWord("{owner} :owner", segment), i == 2 && hasWord("{repo} :repo", segment), i > 2 && hasWord("{branch} :branch", segment):
		default:
			return false
		}
	}
	return true
}

// hasPlaceholder reports a text in which gh api may put in what the project's remotes and branch are.
func hasPlaceholder(text string) bool {
	return strings.Contains(text, "{") || slices.ContainsFunc([]string{":owner", ":repo", ":branch"}, func(name string) bool { return strings.Contains(text, name) })
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
			instead = cmp.Or(instead, gitHubInstead[p.Argv[1]+" "+p.Argv[2]], completeGitHub(p.Argv[1:]))
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
