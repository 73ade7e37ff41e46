package command

import (
	"slices"
	"strings"
)

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

// mayTellLogin reports arguments of gh with which it may print its token or pass it on: all but arguments that are known to only ask
// GitHub, or to change something there, without a file, a browser, another host, a program, or a filter of jq that reads
// the environment.
func mayTellLogin(args []string) bool {
	if c, changes := changesGitHub(args); changes {
		return c.missing() != "" || slices.ContainsFunc(withoutIndices(args, c.texts), leadsElsewhere)
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

// gitHubChange is what is known of a change of [gitHubChanges], or of gh api with fields in place.
type gitHubChange struct {
	topic string
	// texts are the indices of the arguments that are values of [gitHubTexts].
	texts []int
	// operands are the words after the subcommand that are no options and no values of any.
	operands []string
	// repository is the value of --repo, as OWNER/REPO.
	repository string
}

// changesGitHub reports arguments of gh that are a change, with options that are known.
func changesGitHub(args []string) (c gitHubChange, changes bool) {
	if len(args) < 2 || args[0] == "" {
		return c, false
	}
	if c.topic = args[0]; c.topic == "api" {
		// The card has to show what is changed, so nothing is left to the project's remotes: of "b%23" for the name of a
		// repository, which is "b#" then, all that follows would not be sent.
		if strings.HasPrefix(args[1], "-") || !plainEndpoint(args[1], false) {
			return c, false
		}
	} else if !hasWord(gitHubChanges[c.topic], args[1]) {
		return c, false
	}
	// An -f of gh pr or gh issue is another option, and -d of pr deletes a branch by git.
	other := c.topic == "pr" || c.topic == "issue"
	for i := 2; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			c.operands = append(c.operands, args[i])
		case other && hasWord("-f -d", name):
			return c, false
		case hasWord(gitHubFlags, args[i]):
		case hasWord(gitHubTexts, name) || c.topic == "api" && args[i] == "-f" || other && hasWord("-b -t", args[i]):
			if !joined {
				i++
			}
			c.texts = append(c.texts, i)
		case hasWord(gitHubChangeOptions, name) && (strings.HasPrefix(name, "--") || !joined):
			if !joined && i+1 < len(args) {
				i++ // of some commands the letter is a flag, and the next word would be an option
				if value = args[i]; strings.HasPrefix(value, "-") {
					return c, false
				}
			}
			if hasWord("--repo -R", name) {
				if c.repository = value; !plainRepository(value) {
					return c, false
				}
			}
		default:
			return c, false
		}
	}
	return c, true
}

// missing returns the word without which the change would look into the project for what it is to change: gh pr would ask
// git for the branch and its commits, and gh label would edit or delete the repository itself where the name in the
// remote's address has a "#". Empty: nothing is missing.
func (c gitHubChange) missing() string {
	switch {
	case c.topic == "pr" && (len(c.operands) != 1 || !consistsOf(c.operands[0], "._/-#:")):
		return "NUMBER"
	case c.topic == "label" && c.repository == "":
		return "-R OWNER/REPO"
	}
	return ""
}

// gitHubByDirectory reports arguments of gh that may change another repository in another directory: all but arguments that only
// ask GitHub, or name the repository.
func gitHubByDirectory(s simple) bool {
	c, changes := changesGitHub(values(s.args()))
	return !readsGitHub(s) && (!changes || c.topic != "api" && c.repository == "")
}

// plainRepository reports OWNER/REPO, with or without the host in front.
func plainRepository(name string) bool {
	owner, repo, two := strings.Cut(strings.TrimPrefix(name, "github.com/"), "/")
	return two && consistsOf(owner, "._-") && consistsOf(repo, "._-") && strings.Trim(owner, ".") != "" && strings.Trim(repo, ".") != ""
}

// consistsOf reports a word, not empty, of letters and digits of ASCII and these marks.
func consistsOf(word, marks string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(marks, r)
	})
}

// completeGitHub returns a change with the word that it misses; "" for any other command.
func completeGitHub(args []string) string {
	c, changes := changesGitHub(args)
	if missing := c.missing(); changes && missing != "" {
		return "gh " + args[0] + " " + args[1] + " " + missing + ", with the other words as they are"
	}
	return ""
}
