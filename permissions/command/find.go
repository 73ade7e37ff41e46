package command

import (
	"slices"
	"strings"

	"acp-agent/capability"
)

// findTests are the parts of find's expression that only look: those without a value,
// with one, and with a file to compare with.
const (
	findBare   = "-print -print0 -empty -prune -not ! -a -and -o -or ( ) , -readable -writable -executable -depth -d -xdev -mount -true -false -quit -nouser -nogroup -daystart -noleaf -ls"
	findValued = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -user -group -uid -gid -perm -links -inum -lname -ilname -printf -used"
	findFile   = "-newer -anewer -cnewer -samefile"
)

// find judges find: starting points inside, then tests; every action but printing is
// asked about. A sandbox for reading answers for commands that find runs, where these only read.
func (l *listing) find(part *Part, s simple, at dirs) finding {
	f := allowed()
	args := s.args()
	if len(args) > 0 && args[0].value == "-P" {
		args = args[1:]
	}
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i].value, "-") && args[i].value != "(" && args[i].value != "!"; i++ {
		f = f.worse(l.operand(part, args[i], at, false))
	}
	if i == 0 {
		f = f.worse(l.operand(part, word{value: ".", raw: ".", static: true}, at, false))
	}
	for ; i < len(args); i++ {
		v := args[i].value
		switch {
		case hasWord(findBare, v):
		case hasWord(findValued, v) && i+1 < len(args):
			i++
		case hasWord(findFile, v) && i+1 < len(args):
			i++
			f = f.worse(l.operand(part, args[i], at, false))
		case v == "-exec":
			end := execEnd(args, i+1)
			f = f.worse(l.findRuns(args[i+1:min(end, len(args))], end < len(args) && args[end].value == "+", at))
			i = end
		default:
			return f.worse(asks(Unlisted, "find "+v+" is not on the list of what only reads"))
		}
	}
	return f
}

// execEnd is where the command ends that find -exec runs: at ";", or at "+" behind "{}".
func execEnd(args []word, from int) int {
	for i := from; i < len(args); i++ {
		if args[i].value == ";" || args[i].value == "+" && args[i-1].value == "{}" {
			return i
		}
	}
	return len(args)
}

// findRuns is the finding about a command that find runs for the files that it finds, with many of
// them at once or one: none of their names can be taken for an option, since each begins as a
// starting point does, but it can for a script.
func (l *listing) findRuns(words []word, many bool, at dirs) finding {
	f := asks(Wrapper, "find runs another command")
	completed, named := slices.Clone(words), slices.Clone(words)
	for i, w := range words {
		if w.value == "{}" {
			completed[i] = appended
			named[i] = word{value: "./" + unknown, raw: `"{}"`}
		}
	}
	if many {
		completed = append(completed, appended)
	}
	s := newSimple(completed, nil, at)
	within := func(w word) bool { return strings.Contains(w.value, "{}") }
	if len(words) == 0 || within(words[0]) || mayStart(unwrapped{}, newSimple(named, nil, at)) || slices.ContainsFunc(completed, within) || hasWord("git find rg sort test [ cd pushd popd", s.name()) {
		return f.notOnlyReading("what find runs is only known when it runs")
	}
	inner, _, _ := l.listed(&Part{}, s, at)
	switch inner.action {
	case capability.Allow:
		return f
	case capability.Ask:
		return f.notOnlyReading(inner.notReading)
	}
	return f.notOnlyReading(inner.reason)
}
