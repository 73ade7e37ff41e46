package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
	"acp-agent/internal/shell"
)

// withEndOfOptions judges a text that asks once more with "--" (POSIX: the end of options) in front of
// unknown words: none of them can be an option then, and a name that begins with a dash is that of a
// file. What it allows is the other text, which runs in the place of the first one (Verdict.Run).
func withEndOfOptions(v Verdict, file *syntax.File, env Env) Verdict {
	if v.Action != capability.Ask || v.Validation || v.Run != "" || env.List == nil || env.Reading == nil {
		return v
	}
	j := newJudge(v.Text, newPaths(env), map[string]bool{})
	j.words.numbers = numbersOf(file)
	var at []int
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			if from, ok := j.endOfOptions(c); ok {
				at = append(at, from)
			}
		}
		return true
	})
	if len(at) == 0 {
		return v
	}
	text := v.Text
	slices.Sort(at)
	for _, from := range slices.Backward(at) {
		text = text[:from] + "-- " + text[from:]
	}
	if shell.CheckText(text) != nil {
		return v
	}
	w, again := judgeFile(text, env)
	if again == nil {
		return v
	}
	if w = hidingObjects(w, again, env); w.Action != capability.Allow {
		return v
	}
	w.Text, w.Run, w.original = v.Text, text, v.Parts
	return w
}

// endOfOptions returns where "--" goes into a command that has a word that may become an option: in
// front of its script or first operand, for jq after the filter. ok is false where an option follows
// there already.
func (j *judge) endOfOptions(c *syntax.CallExpr) (from int, ok bool) {
	if len(c.Args) == 0 {
		return 0, false
	}
	words := j.words.evaluate(c.Args, dirs{unknown: true})
	u := unwrap(words)
	s := newSimple(u.words, nil, dirs{})
	if len(words) != len(c.Args) || len(u.words) < 2 || u.textUnknown != "" || !hasWord("sed jq rg sort", s.name()) || !mayTakeOption(u, s) {
		return 0, false
	}
	args := s.args()
	first := slices.IndexFunc(args, func(w word) bool { return !w.static || !strings.HasPrefix(w.value, "-") || w.value == "-" })
	if first < 0 || args[first].value == "-" {
		return 0, false
	}
	if p, lacks := readers[s.name()].parse(args[:first]); lacks != "" || len(p.operands) > 0 || p.hasPattern() {
		return 0, false
	}
	// The script, pattern or filter must be known. A first operand that may become several words may
	// be meant for options.
	if script := s.name() != "sort"; script && !args[first].static && !staysOperand(args[first]) || !script && becomesSeveral(args[first]) {
		return 0, false
	}
	rest := args[first+1:]
	if slices.ContainsFunc(rest, func(w word) bool { return strings.HasPrefix(w.value, "-") }) {
		return 0, false
	}
	at := len(c.Args) - len(args) + first
	if s.name() == "jq" {
		if at++; at == len(c.Args) {
			return 0, false
		}
	}
	return int(c.Args[at].Pos().Offset()), true
}
