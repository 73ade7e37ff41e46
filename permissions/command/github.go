package command

import (
	"slices"
	"strings"
)

// gitHubReads lists the subcommands of gh that only ask GitHub, by topic. Those without topics stand under "".
var gitHubReads = map[string]string{
	"":   "status",
	"pr": "list view diff checks status", "issue": "list view status", "run": "list view watch", "repo": "list view",
	"release": "list view", "workflow": "list view", "gist": "list view", "label": "list", "cache": "list",
	"ruleset": "list view check", "org": "list", "project": "list view field-list item-list", "variable": "list get",
	"search": "code commits issues prs repos",
}

// gitHubAPI lists the options with which gh api only asks. One with a value has it in the next word, or after "=".
const (
	gitHubAPIOptions = "--paginate --slurp --include -i --silent --verbose"
	gitHubAPIValued  = "--jq -q --template -t --cache --preview -p"
)

// asksGitHub reports a command of gh that needs the user's login.
func asksGitHub(s simple) bool {
	return s.name() == "gh" && !hasWord("version help completion config alias extension", subcommand(s)) && subcommand(s) != ""
}

// readsGitHub reports a command of gh that is known to change nothing there.
func readsGitHub(s simple) bool {
	args := s.args()
	if len(args) == 0 || !allStatic(args) {
		return false
	}
	if args[0].value == "api" {
		return readsGitHubAPI(args[1:])
	}
	if hasWord(gitHubReads[""], args[0].value) {
		return true
	}
	return len(args) > 1 && args[0].value != "" && hasWord(gitHubReads[args[0].value], args[1].value)
}

// readsGitHubAPI reports arguments of gh api that send a GET without fields.
func readsGitHubAPI(args []word) bool {
	endpoints := 0
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i].value, "=")
		switch {
		case !strings.HasPrefix(name, "-"):
			endpoints++
			if strings.Contains(args[i].value, "graphql") {
				return false // its queries are sent with POST, and may change things
			}
		case hasWord(gitHubAPIOptions, args[i].value):
		case hasWord(gitHubAPIValued, name):
			if !joined {
				i++
			}
		case hasWord("-X --method", name) && !joined && i+1 < len(args) && args[i+1].value == "GET":
			i++
		default:
			return false
		}
	}
	return endpoints == 1 && !slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.value, "://") })
}
