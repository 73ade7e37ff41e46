package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// unwrapped is a command after the wrappers that start it (C4).
type unwrapped struct {
	words   []word
	floor   finding
	wrapped bool
	// changes is set when a wrapper alters what runs (its environment, its arguments),
	// so that a rule must allow the whole line as well as the command.
	changes bool
	// hidesOptions is set when an option makes the command run another program, so
	// that no pattern but "*" may allow it.
	hidesOptions bool
	// appends is set when a wrapper adds arguments that are only known when it runs.
	appends bool
	// replaced is the text that xargs replaces by an argument; empty means "{}" at most.
	replaced string
	// text says that a wrapper runs a program given as text, or with words that may be several.
	text string
	// detaches is set when a wrapper has the command outlive the shell.
	detaches bool
}

// wrapper says how to find the command that a wrapper runs.
type wrapper struct {
	valued  string // short options that take a value
	long    string // long options that take a value, blank-separated
	skip    int    // operands of its own before the command
	assigns bool   // accepts NAME=value before the command
	changes bool
}

func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "nice":
		return wrapper{valued: "n", long: "--adjustment"}, true
	case "nohup", "setsid", "builtin", "time":
		return wrapper{valued: "fo"}, true
	case "timeout":
		return wrapper{valued: "ks", long: "--kill-after --signal", skip: 1}, true
	case "stdbuf":
		return wrapper{valued: "ioe", long: "--input --output --error"}, true
	case "ionice":
		return wrapper{valued: "cnpPu", long: "--class --classdata"}, true
	case "chrt", "taskset":
		return wrapper{skip: 1}, true
	case "command":
		return wrapper{}, true
	case "exec":
		return wrapper{valued: "a", changes: true}, true
	case "env":
		return wrapper{valued: "uCS", long: "--unset --chdir --split-string", assigns: true, changes: true}, true
	case "xargs":
		return wrapper{
			valued: "adEILnPs", changes: true,
			long: "--arg-file --delimiter --eof --replace --max-lines --max-args --max-procs --max-chars --process-slot-var",
		}, true
	case "parallel", "watch", "busybox", "toybox", "flock", "chronic", "unbuffer", "catchsegv", "strace", "ltrace", "script", "doas", "sudo", "pkexec":
		return wrapper{valued: "nugpDRTho", skip: skipOf(name), changes: true, assigns: name == "sudo"}, true
	default:
		return wrapper{}, false
	}
}

func skipOf(name string) int {
	if name == "flock" {
		return 1
	}
	return 0
}

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
})

// unwrap takes the wrappers off a command.
func unwrap(words []word) unwrapped {
	u := unwrapped{words: words, floor: finding{}}
	for range 16 {
		if len(u.words) == 0 {
			return u
		}
		name := path.Base(u.words[0].value)
		w, ok := wrapperOf(name)
		if !ok || name == "command" && looksUp(u.words) {
			u.hidesOptions = u.hidesOptions || runsOther(u.words)
			return u
		}
		rest, split := w.command(u.words[1:])
		if name == "sudo" || name == "doas" || name == "pkexec" {
			u.floor = u.floor.worse(denies(Privilege, name+" runs a command with other privileges"))
		}
		u.floor = u.floor.worse(asks(Wrapper, name+" runs another command"))
		u.heed(name, u.words[1:len(u.words)-len(rest)], rest, split)
		u.wrapped = true
		u.detaches = u.detaches || detaches(name)
		u.changes = u.changes || w.changes
		u.appends = u.appends || name == "xargs" || name == "parallel"
		if name == "env" && len(rest) == 0 && !split {
			return u // env alone prints the environment
		}
		if split {
			u.hidesOptions = true
		}
		u.words = rest
	}
	u.floor = u.floor.worse(denies(Limits, "the command is wrapped too often to be judged"))
	return u
}

// heed notes what a wrapper's own words and the rest of them leave to the time at which it runs.
func (u *unwrapped) heed(name string, own, rest []word, split bool) {
	for i, w := range own {
		if option, value, _ := strings.Cut(w.value, "="); option == "--replace" {
			u.replaced = value
		} else if strings.HasPrefix(w.value, "-I") {
			if u.replaced = w.value[2:]; u.replaced == "" && i+1 < len(own) {
				u.replaced = own[i+1].value
			}
		}
	}
	inShell := name == "watch" || name == "parallel"
	switch {
	case split,
		len(rest) == 0 && u.appends,
		len(rest) == 0 && hasWord("parallel watch flock script timeout busybox toybox chronic unbuffer", name),
		slices.ContainsFunc(own, splits),
		name == "xargs" && slices.ContainsFunc(own, func(w word) bool { return !w.static && !w.number && !hasWord("{} -I{} -i{} --replace={}", w.raw) }), // what it replaces may be the name of the command
		len(rest) > 0 && (strings.ContainsAny(rest[0].value, " \t\n;|&") || strings.HasPrefix(rest[0].value, ":::")),
		inShell && slices.ContainsFunc(rest, func(w word) bool {
			return strings.ContainsAny(strings.ReplaceAll(w.value, "{}", ""), "*?[$`;&|<>(){} \t\n")
		}):
		u.text = name + " runs a program that is only known when it runs"
	}
}

// looksUp reports "command -v NAME", which runs nothing.
func looksUp(words []word) bool {
	return len(words) > 1 && (words[1].value == "-v" || words[1].value == "-V")
}

// command skips the wrapper's own options and operands.
func (w wrapper) command(args []word) (rest []word, split bool) {
	skip := w.skip
	for i := 0; i < len(args); i++ {
		v := args[i].value
		switch {
		case v == "--":
			rest = args[i+1:]
			return rest[min(skip, len(rest)):], split
		case strings.HasPrefix(v, "--"):
			name, _, attached := strings.Cut(v, "=")
			if name == "--split-string" {
				split = true
			}
			if !attached && hasWord(w.long, v) {
				i++
			}
		case len(v) > 1 && v[0] == '-':
			split = split || w.assigns && strings.Contains(v, "S")
			if at := strings.IndexAny(v[1:], w.valued); w.valued != "" && at >= 0 && at == len(v)-2 {
				i++
			}
		case w.assigns && assignment().MatchString(v):
		case skip > 0:
			skip--
		default:
			return args[i:], split
		}
	}
	return nil, split
}

// hasWord reports whether w is one of the words of a list that blanks separate.
func hasWord(list, w string) bool {
	if w == "" || strings.Contains(w, " ") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], w)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(w)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = i + 1
	}
}

// programs returns the shell programs that the command takes as arguments.
func (u unwrapped) programs(s simple) []word {
	args := s.args()
	switch {
	case s.name() == "eval":
		if args = afterDashes(args); len(args) == 1 {
			return args
		}
		return []word{{value: strings.Join(values(args), " "), static: allStatic(args)}}
	case s.name() == "trap" && len(afterDashes(args)) > 1:
		return afterDashes(args)[:1]
	case s.name() == "git":
		return gitPrograms(gitWords(s))
	case s.name() == "fd", s.name() == "fdfind":
		return findPrograms(args, "-x -X --exec --exec-batch", "{}")
	case isShell(s.name()):
		for i, w := range args {
			if strings.HasPrefix(w.value, "-") && !strings.HasPrefix(w.value, "--") && strings.Contains(w.value, "c") {
				// Each "o" takes the name of an option before the program.
				rest, before := args[i+1:], strings.Count(strings.ToLower(w.value), "o")
				for len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") || len(rest) > 1 && strings.HasPrefix(rest[0].value, "+") {
					before += strings.Count(strings.ToLower(rest[0].value), "o")
					rest = rest[1:]
				}
				return rest[:min(1+before, len(rest))]
			}
		}
	case s.name() == "find":
		return findPrograms(args, "-exec -execdir -ok -okdir")
	}
	return nil
}

func afterDashes(args []word) []word {
	if len(args) > 0 && args[0].value == "--" {
		return args[1:]
	}
	return args
}

// gitPrograms gives the commands that git starts as it is told.
func gitPrograms(words []word) []word {
	if len(words) == 0 {
		return nil
	}
	args := words[1:]
	switch words[0].value {
	case "bisect":
		if len(args) > 1 && args[0].value == "run" {
			return []word{commandText(args[1:])}
		}
	case "submodule":
		i := slices.IndexFunc(args, func(w word) bool { return w.value == "foreach" })
		rest := args[i+1:]
		for i >= 0 && len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") {
			rest = rest[1:]
		}
		if i >= 0 && len(rest) == 1 {
			return rest
		} else if i >= 0 && len(rest) > 1 {
			return []word{commandText(rest)}
		}
	case "rebase":
		var out []word
		for i, w := range args {
			switch name, value, attached := strings.Cut(w.value, "="); {
			case (w.value == "-x" || len(name) > 3 && strings.HasPrefix("--exec", name) && !attached) && i+1 < len(args):
				out = append(out, args[i+1])
			case len(name) > 3 && strings.HasPrefix("--exec", name) && attached:
				out = append(out, word{value: value, raw: w.raw, static: w.static})
			case strings.HasPrefix(w.value, "-x"):
				out = append(out, word{value: w.value[2:], raw: w.raw, static: w.static})
			}
		}
		return out
	}
	return nil
}

// commandText is a command as text for the same judge.
func commandText(words []word) word {
	argv := make([]string, len(words))
	for i, w := range words {
		argv[i] = quoteForShell(w.value)
	}
	return word{value: strings.Join(argv, " "), static: true}
}

// findPrograms gives the commands that find, or a program like it, starts after some options,
// as text for the same judge; more are words that it adds to each.
func findPrograms(args []word, options string, more ...string) []word {
	var out []word
	for i := 0; i < len(args); i++ {
		if !hasWord(options, args[i].value) {
			continue
		}
		var argv []string
		for i++; i < len(args) && args[i].value != ";" && args[i].value != "+"; i++ {
			argv = append(argv, quoteForShell(args[i].value))
		}
		out = append(out, word{value: strings.Join(append(argv, more...), " "), static: true})
	}
	return out
}

// quoteForShell quotes a word. A piece that is only known when it runs is one in the text, too.
func quoteForShell(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "'", `'\''`), unknown, `'"$X"'`) + "'"
}

// parseNested parses a program inside a program, with the same guards.
func parseNested(text string, env Env) (*syntax.File, error) {
	if err := shell.CheckText(text); err != nil {
		return nil, err
	}
	return shell.Parse(text, env.Dialect)
}
