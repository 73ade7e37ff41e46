package command

import (
	"slices"
	"strings"
)

// mayStart reports that a word of a program on the list, which is only known when it runs, may be
// an option, or a script, with which the program starts another one or prints the environment.
func mayStart(u unwrapped, s simple) bool {
	switch s.name() {
	case "test", "[":
		return mayTest(s.args())
	case "printf":
		return mayFormat(u, s)
	case "awk":
		return scriptUnknown(u, s)
	case "sed", "jq":
		return scriptUnknown(u, s) || mayTakeOption(u, s)
	case "find":
		return findMayStart(u, s)
	case "rg", "sort", "getconf", "npm", "yarn", "pnpm", "pip", "pip3":
		return mayTakeOption(u, s)
	}
	return false
}

// becomesSeveral reports a word that may become several, or none: it splits, or is a pattern in the
// place of which the shell puts names of files.
func becomesSeveral(w word) bool {
	return !steady(w) && splits(w) || patternWord(w)
}

// patternWord reports a word in the place of which the shell may put names of files.
func patternWord(w word) bool {
	return !w.static && !strings.Contains(w.value, unknown) && strings.ContainsAny(w.raw, "*?[{")
}

// steady reports a word that is there and is no option, whatever the numbers in it come to. One may come
// to nothing: a word of nothing else is gone then unless it is quoted, and an option takes the next word
// for its value.
func steady(w word) bool {
	if !w.number || strings.HasPrefix(w.value, "-") {
		return false
	}
	return !splits(w) || strings.Trim(w.value, unknown) != "" || strings.HasPrefix(w.raw, "$((")
}

// becomesOption reports a word that may become an option, or several words of which one is.
func becomesOption(w word) bool {
	if w.static || steady(w) {
		return false
	}
	return splits(w) || strings.HasPrefix(w.value, unknown) || w.value != "" && strings.ContainsAny(w.value[:1], "-*?[{")
}

// testBinary are the operators of test between two operands.
const testBinary = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef"

// mayTest reports that a word of test may become -v, which runs the substitutions in an index: one
// that may be several, or one where the shell looks for an operator.
func mayTest(args []word) bool {
	// Without a number that comes to nothing, no form of test that is left to a sandbox becomes another.
	if slices.ContainsFunc(args, func(w word) bool { return !w.number && splits(w) || patternWord(w) }) {
		return true
	}
	if n := len(args); n > 0 && args[n-1].value == "]" {
		args = args[:n-1]
	}
	if len(args) > 3 && args[0].static && args[0].value == "!" {
		args = args[1:]
	}
	operator := func(w word) bool { return w.static && hasWord(testBinary+" -a -o", w.value) }
	switch len(args) {
	case 0, 1:
		return false
	case 2:
		return !args[0].static
	case 3: // the shell looks at the first word only where the second is no operator between two
		return !operator(args[1]) && !(args[0].static && args[1].static)
	}
	return !allStatic(args)
}

// mayFormat reports a format of printf that is not known, and may set a variable, the name of which
// the shell takes from a word and runs the substitutions in.
func mayFormat(u unwrapped, s simple) bool {
	args := afterDashes(s.args())
	switch {
	case len(args) == 0:
		return u.appends
	case args[0].static || steady(args[0]):
		return u.appends && u.replaces(args[0].value)
	}
	return u.appends || len(args) > 1 || becomesSeveral(args[0])
}

// scriptUnknown reports that the script of awk, sed or jq is only known when it runs, or is another
// word than it seems. Of that of sed, numbers need not be known.
func scriptUnknown(u unwrapped, s simple) bool {
	args := s.args()
	p, _ := readers[s.name()].parse(args)
	if len(p.operands) == 0 {
		return u.appends || !allStatic(args)
	}
	script := p.operands[0]
	known := script.static || s.name() == "sed" && steady(script) && strings.Count(script.value, unknown) <= maxGaps
	before := args[:len(args)-len(p.operands)] // of awk, the options of which end at its script
	return !known || u.appends && u.replaces(script.value) || s.name() == "awk" && slices.ContainsFunc(before, becomesSeveral)
}

// mayTakeOption reports that a word before "--" may become an option.
func mayTakeOption(u unwrapped, s simple) bool {
	args := s.args()
	for i, w := range args {
		if w.value == "--" {
			if _, lacks := readers[s.name()].parse(args[:i]); lacks == "" {
				return false
			}
		}
		if becomesOption(w) {
			return true
		}
	}
	return u.appends
}

// findMayStart reports that a word of find may become -exec, with the words behind it for a command,
// or belongs to a command that find runs.
func findMayStart(u unwrapped, s simple) bool {
	args := s.args()
	open, runs := 0, false
	for i, w := range args {
		switch {
		case w.static, w.value == "{}":
			runs = runs || hasWord("-exec -execdir -ok -okdir", w.value)
			continue
		case runs, splits(w), strings.HasPrefix(w.value, "-"):
			return true
		case !becomesOption(w):
			continue
		}
		open++
		if open > 1 || !strings.HasPrefix(w.value, unknown) || i+1 < len(args) && !isTest(args[i+1].value) {
			return true
		}
	}
	return u.appends
}

// isTest reports a word that is an option or an operator of find, and no operand.
func isTest(v string) bool { return strings.HasPrefix(v, "-") || hasWord("! ( )", v) }
