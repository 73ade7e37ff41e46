package acptest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/testkit/helpertest"
)

// normal replaces what differs from run to run by names that do not.
type normal struct {
	dirs  *strings.Replacer
	names map[string]string // of ids
	count map[string]int    // of names by prefix
	known map[string]bool   // session ids
}

// form is a text that differs from run to run, and what stands for it.
type form struct {
	pattern *regexp.Regexp
	name    string
	hints   []string // one of them is in every line with such a text
}

func newForm(pattern, name string, hints ...string) form {
	return form{regexp.MustCompile(pattern), name, hints}
}

// replace puts the name in the place of such a text. Most lines have no hint, and are not searched.
func (f form) replace(line string) string {
	if !f.hinted(line) {
		return line
	}
	return f.pattern.ReplaceAllString(line, f.name)
}

func (f form) hinted(line string) bool {
	return slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(line, hint) })
}

// The forms are made when they are needed: the agent of a test is the test binary, too.
var (
	idForm = sync.OnceValue(func() form {
		return newForm(`\b(ses|msg|prt|call|turn|trn)_[0-9a-z]{20,}\b`, "", "ses_", "msg_", "prt_", "call_", "turn_", "trn_")
	})
	timeForm = sync.OnceValue(func() form {
		return newForm(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`, "$$time",
			"0T", "1T", "2T", "3T", "4T", "5T", "6T", "7T", "8T", "9T")
	})
	// What came of a call of a subagent, cut to a length that a directory's name counts in.
	resultForm = sync.OnceValue(func() form {
		return newForm("(- `+[^`]+`+ (?:done|failed|rejected|cancelled): `)[^`]*[/\\\\][^`]*`", "${1}$$result`", "- `")
	})
	otherForms = sync.OnceValue(func() []form {
		return []form{
			// What confines commands is the machine's.
			newForm(`Sandbox: [a-z -]+(, network [a-z ]+)?`, "Sandbox: $$sandbox", "Sandbox: "),
			// Waits between tries are jittered; a session's directory has a random name.
			newForm(`(Trying again in |server is busy \()[0-9.]+m?s`, "${1}$$wait", "Trying again in ", "server is busy ("),
			newForm(`(/acp-agent/sessions/)[^/"]+`, "$1$$state", "/acp-agent/sessions/"),
			newForm(`/exec-[0-9]+/`, "/$$command/", "/exec-"),
			// How many tokens were used depends on the length of the directories' names.
			newForm(`(, )[0-9]+k? tokens?\b`, "${1}$$tokens", " token"),
			newForm(`about [0-9]+ tokens in place of [0-9]+`, "about $$used tokens in place of $$used", " tokens in place of "),
			newForm(`(Context: )[0-9]+( of )`, "${1}$$used${2}", "Context: "),
			// How long a subagent has run, in the first line of its card.
			newForm(`((?: steps?| tool calls?|\$tokens| cost [0-9.e+-]+), |(?:is running|in the background|its turn|is done|failed|was cancelled|was lost): )(?:\d+h)?(?:\d+m)?\d+s\b`,
				"${1}$$elapsed", "0s", "1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s"),
			// What comes from the web stands in labels that no one can guess.
			newForm(`(search-results-)[A-Z2-7]{12}\b`, "$1$$label", "search-results-"),
		}
	})
)

func newNormal(names Names) *normal {
	self, _ := os.Executable() // empty is skipped
	type dir struct{ path, name string }
	dirs := []dir{{names.Project, "$PROJECT"}, {names.Home, "$HOME"}, {self, "$SELF"}, {helpertest.Path(), "$SELF"}}
	if up := filepath.Dir(names.Project); up != filepath.Dir(up) && names.Project != "" {
		dirs = append(dirs, dir{up, "$PROJECT/.."})
	}
	for _, d := range dirs {
		if real, err := filepath.EvalSymlinks(d.path); err == nil && real != d.path {
			dirs = append(dirs, dir{real, d.name})
		}
	}
	slices.SortStableFunc(dirs, func(a, b dir) int { return len(b.path) - len(a.path) }) // the innermost counts
	var pairs []string
	for _, d := range dirs {
		if d.path != "" {
			pairs = append(pairs, d.path, d.name)
		}
	}
	return &normal{dirs: strings.NewReplacer(pairs...), names: map[string]string{}, count: map[string]int{}, known: map[string]bool{}}
}

// learn notes the id of a session.
func (n *normal) learn(session string) { n.known[session] = true }

// knows reports whether a session with this id was noted.
func (n *normal) knows(session string) bool { return n.known[session] }

// withoutJoiner leaves out what has a command of a terminal join a namespace, where the machine
// makes them.
func withoutJoiner(v map[string]any) map[string]any {
	command, _ := v["command"].(string)
	args, _ := v["args"].([]any)
	at := slices.Index(args, any("--"))
	if path.Base(command) != "nsenter" || at < 0 || at+1 >= len(args) {
		return v
	}
	v = maps.Clone(v)
	v["command"], v["args"] = args[at+1], args[at+2:]
	return v
}

// value drops durations from a decoded JSON value, and names what the machine has
// for a sandbox.
func (n *normal) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		v = withoutJoiner(v)
		clean := make(map[string]any, len(v))
		for name, member := range v {
			switch _, is := member.(map[string]any); {
			case name == "duration_ms":
			case name == "sandbox" && is:
				clean[name] = "$sandbox"
			default:
				clean[name] = n.value(member)
			}
		}
		return clean
	case []any:
		clean := make([]any, len(v))
		for i, element := range v {
			clean[i] = n.value(element)
		}
		return clean
	}
	return v
}

// text names what differs in a rendered line.
func (n *normal) text(line string) string {
	line = n.dirs.Replace(resultForm().replace(line))
	line = timeForm().replace(line)
	for _, f := range otherForms() {
		line = f.replace(line)
	}
	ids := idForm()
	if !ids.hinted(line) {
		return line
	}
	return ids.pattern.ReplaceAllStringFunc(line, func(id string) string {
		if n.names[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			n.count[prefix]++
			n.names[id] = fmt.Sprintf("$%s%d", prefix, n.count[prefix])
		}
		return n.names[id]
	})
}
