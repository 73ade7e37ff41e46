package acptest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// normal gives what differs from run to run a name.
type normal struct {
	dirs  *strings.Replacer
	names map[string]string // of ids
	count map[string]int    // of names by prefix
	known map[string]bool   // session ids
}

var (
	idForm   = regexp.MustCompile(`\b(ses|msg|prt|call|turn|trn)_[0-9a-z]{20,}\b`)
	timeForm = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	// Waits between tries are jittered; a session's directory has a random name.
	// What confines commands is the machine's.
	sandboxForm = regexp.MustCompile(`Sandbox: [a-z -]+(, network [a-z ]+)?`)
	waitForm    = regexp.MustCompile(`(Trying again in |server is busy \()[0-9.]+m?s`)
	stateForm   = regexp.MustCompile(`(/acp-agent/sessions/)[^/"]+`)
	commandForm = regexp.MustCompile(`/exec-[0-9]+/`)
	// What came of a call of a subagent, cut to a length that a directory's name counts in.
	resultForm = regexp.MustCompile("(- `+[^`]+`+ (?:done|failed|rejected|cancelled): `)[^`]*[/\\\\][^`]*`")
	// How many tokens were used depends on the length of the directories' names.
	tokensForm  = regexp.MustCompile(`(, )[0-9]+k? tokens?\b`)
	contextForm = regexp.MustCompile(`(Context: )[0-9]+( of )`)
	// How long a subagent has run, in the first line of its card.
	elapsedForm = regexp.MustCompile(`((?: steps?| tool calls?|\$tokens| cost [0-9.e+-]+), |(?:is running|in the background|its turn|is done|failed|was cancelled|was lost): )(?:\d+h)?(?:\d+m)?\d+s\b`)
	// What comes from the web stands in labels that no one can guess.
	labelForm = regexp.MustCompile(`(search-results-)[A-Z2-7]{12}\b`)
)

func newNormal(names Names) *normal {
	self, _ := os.Executable() // empty is skipped
	type dir struct{ path, name string }
	dirs := []dir{{names.Project, "$PROJECT"}, {names.Home, "$HOME"}, {self, "$SELF"}}
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

// learn notes a session's id, knows tells whether it is one.
func (n *normal) learn(session string)      { n.known[session] = true }
func (n *normal) knows(session string) bool { return n.known[session] }

// value drops durations from a decoded JSON value, and names what the machine has
// for a sandbox.
func (n *normal) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
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
	line = resultForm.ReplaceAllString(line, "${1}$$result`")
	line = n.dirs.Replace(line)
	line = timeForm.ReplaceAllString(line, "$$time")
	line = sandboxForm.ReplaceAllString(line, "Sandbox: $$sandbox")
	line = waitForm.ReplaceAllString(line, "${1}$$wait")
	line = stateForm.ReplaceAllString(line, "$1$$state")
	line = commandForm.ReplaceAllString(line, "/$$command/")
	line = tokensForm.ReplaceAllString(line, "${1}$$tokens")
	line = contextForm.ReplaceAllString(line, "${1}$$used${2}")
	line = elapsedForm.ReplaceAllString(line, "${1}$$elapsed")
	line = labelForm.ReplaceAllString(line, "$1$$label")
	return idForm.ReplaceAllStringFunc(line, func(id string) string {
		if n.names[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			n.count[prefix]++
			n.names[id] = fmt.Sprintf("$%s%d", prefix, n.count[prefix])
		}
		return n.names[id]
	})
}
