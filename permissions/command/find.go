package command

import (
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
)

// The parts of find's expression that only look: those without a value, those with one, and those
// with a file to compare with.
const (
	findBare   = "-print -print0 -empty -prune -not ! -a -and -o -or ( ) , -readable -writable -executable -depth -d -xdev -mount -true -false -quit -nouser -nogroup -daystart -noleaf -ls"
	findValued = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -user -group -uid -gid -perm -links -inum -lname -ilname -printf -used"
	findFile   = "-newer -anewer -cnewer -samefile"
)

// findRunning lists the actions of find that run a command.
const findRunning = "-exec -execdir -ok -okdir"

// find judges find: starting points inside the roots, then tests. Every action but printing asks. A
// read-only sandbox makes -exec harmless where the command after it only reads.
func (l *listing) find(part *Part, s simple, at dirs) finding {
	f := allowed()
	args := s.args()
	if len(args) > 0 && args[0].value == "-P" {
		args = args[1:]
	}
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i].value, "-") && args[i].value != "(" && args[i].value != "!"; i++ {
		f = f.worse(l.judgePath(part, args[i], at, false))
	}
	if i == 0 {
		f = f.worse(l.judgePath(part, knownWord("."), at, false))
	}
	for ; i < len(args); i++ {
		v := args[i].value
		switch {
		case hasWord(findBare, v):
		case hasWord(findValued, v) && i+1 < len(args):
			i++
		case hasWord(findFile, v) && i+1 < len(args):
			i++
			f = f.worse(l.judgePath(part, args[i], at, false))
		case v == "-exec":
			end := execEnd(args, i+1, true)
			f = f.worse(l.findRuns(args[i+1:min(end, len(args))], end < len(args) && args[end].value == "+", at))
			i = end
		default:
			return f.worse(asks(Unlisted, "find "+v+" is not on the list of what only reads"))
		}
	}
	return f
}

// commandsAfter returns the commands after some options of find, or of a program like it. plus says that
// "+" may end one.
func commandsAfter(args []word, options string, plus bool) [][]word {
	var out [][]word
	for i := 0; i < len(args); i++ {
		if hasWord(options, args[i].value) {
			from := i + 1
			i = execEnd(args, from, plus)
			out = append(out, args[from:i])
		}
	}
	return out
}

// execEnd returns where the command of -exec ends: at ";" or, with plus, at "+" after "{}".
func execEnd(args []word, from int, plus bool) int {
	for i := from; i < len(args); i++ {
		if args[i].value == ";" || plus && args[i].value == "+" && args[i-1].value == "{}" {
			return i
		}
	}
	return len(args)
}

// findRuns judges a command that find runs for the files that it finds, for many at once or for each.
// The command cannot take one of their names for an option, since each begins as a starting point
// does, but it may take one for a script.
func (l *listing) findRuns(words []word, many bool, at dirs) finding {
	f := asks(Wrapper, "find runs another command")
	completed, named := slices.Clone(words), slices.Clone(words)
	for i, w := range words {
		if w.value == "{}" {
			completed[i] = addedName
			named[i] = word{value: "./" + unknown, raw: `"{}"`}
		}
	}
	if many {
		completed = append(completed, addedName)
	}
	s := newSimple(completed, nil, at)
	within := func(w word) bool { return strings.Contains(w.value, "{}") }
	if len(words) == 0 || within(words[0]) || mayStartProgram(unwrapped{}, newSimple(named, nil, at)) || slices.ContainsFunc(completed, within) || hasWord("git find rg sort test [ cd pushd popd", s.name()) {
		return f.orNotReadOnly("what find runs is only known when it runs")
	}
	inner, _ := l.listed(&Part{}, s, at)
	switch inner.action {
	case capability.Allow:
		return f
	case capability.Ask:
		return f.orNotReadOnly(inner.notReadOnly)
	}
	return f.orNotReadOnly(inner.reason)
}

// runsRemoval reports a find that runs rm for what it finds.
func runsRemoval(s simple) bool {
	args := s.args()
	for i, w := range args {
		if strings.HasPrefix(w.value, "-exec") || strings.HasPrefix(w.value, "-ok") {
			if i+1 < len(args) && filepath.Base(args[i+1].value) == "rm" {
				return true
			}
		}
	}
	return false
}

// narrows reports a find that deletes only what a test selects.
func narrows(s simple) bool {
	for i, w := range s.args() {
		if i > 0 && hasWord("-name -iname -path -ipath -wholename", s.args()[i-1].value) && strings.Trim(w.value, "*/.") == "" {
			return false // it selects everything
		}
	}
	return hasAnyArg(s, "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-empty", "-newer", "-mtime", "-mmin", "-size", "-samefile", "-inum") &&
		!hasAnyArg(s, "!", "-not", "-o", "-or")
}

// findRoots returns the starting points of a find: the operands before its expression.
func findRoots(s simple) []word {
	var out []word
	for _, w := range s.args() {
		if w.value == "-H" || w.value == "-L" || w.value == "-P" {
			continue
		}
		if strings.HasPrefix(w.value, "-") || w.value == "(" || w.value == "!" {
			break
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		out = append(out, knownWord("."))
	}
	return out
}
