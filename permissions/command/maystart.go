package command

import (
	"slices"
	"strings"
)

// mayStartProgram reports that an unknown word of a listed command may turn out to be an option, or a
// script, with which the command starts another program or prints the environment.
func mayStartProgram(u unwrapped, s simple) bool {
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
		return findMayStartProgram(u, s)
	case "rg", "sort", "getconf", "npm", "yarn", "pnpm", "pip", "pip3":
		return mayTakeOption(u, s)
	}
	return false
}

// testBinary lists the operators of test between two operands.
const testBinary = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef"

// mayTest reports that a word of test may become -v, which runs the substitutions in an index. That is a
// word that may become several, or one where the shell expects an operator.
func mayTest(args []word) bool {
	// An empty number turns no form of test that is left to a sandbox into another form.
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
	case 3: // the shell looks at the first word only if the second is not an operator
		return !operator(args[1]) && !(args[0].static && args[1].static)
	}
	return !allStatic(args)
}

// mayFormat reports an unknown format of printf, which may set a variable (%n). The shell takes its name
// from an operand and runs the substitutions in it.
func mayFormat(u unwrapped, s simple) bool {
	args := afterDashes(s.args())
	switch {
	case len(args) == 0:
		return u.appends
	case args[0].static || staysOperand(args[0]):
		return u.appends && u.replaces(args[0].value)
	}
	return u.appends || len(args) > 1 || becomesSeveral(args[0])
}

// scriptUnknown reports that the script of awk, sed or jq is only known when it runs, or may turn out to
// be another word than it seems. In a script of sed, numbers may be unknown.
func scriptUnknown(u unwrapped, s simple) bool {
	args := s.args()
	p, _ := readers[s.name()].parse(args)
	if slices.ContainsFunc(p.files, func(w word) bool { return !w.static || u.appends && u.replaces(w.value) }) {
		return true // the file of the script
	}
	if len(p.operands) == 0 {
		return u.appends || !allStatic(args)
	}
	script := p.operands[0]
	known := script.static || s.name() == "sed" && staysOperand(script) && strings.Count(script.value, unknown) <= maxGaps
	before := args[:len(args)-len(p.operands)] // the options, where they end at the script, as those of awk do
	return !known || u.appends && u.replaces(script.value) || s.name() == "awk" && slices.ContainsFunc(before, becomesSeveral)
}

// mayTakeOption reports a word before "--" that may become an option.
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

// findMayStartProgram reports a word of find that may become -exec, with the words after it as the
// command, or that belongs to a command that find runs.
func findMayStartProgram(u unwrapped, s simple) bool {
	args := s.args()
	open, runs := 0, false
	for i, w := range args {
		switch {
		case w.static, w.value == "{}":
			runs = runs || hasWord(findRunning, w.value)
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

// isTest reports an option or an operator of find.
func isTest(v string) bool { return strings.HasPrefix(v, "-") || hasWord("! ( )", v) }
