package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// unwrapped is a command without the wrappers that start it (C4).
type unwrapped struct {
	words   []word
	floor   finding
	wrapped bool
	// changes: a wrapper alters what runs (its environment, its arguments), so that a rule must
	// allow the whole line as well as the command.
	changes bool
	// hidesOptions: an option makes the command run another program, so that no pattern but "*" may
	// allow it.
	hidesOptions bool
	// appends: a wrapper adds arguments that are only known when it runs.
	appends bool
	// replaced is the text that xargs replaces by an argument. Empty: none but perhaps "{}".
	replaced string
	// textUnknown is the reason why it is not known what a wrapper runs: it takes a program as text,
	// or words that may become several. Empty: it is known.
	textUnknown string
	// detaches: with a wrapper the command outlives the shell.
	detaches bool
}

// wrapper says how to find the command that a wrapper runs.
type wrapper struct {
	valued  string // short options that take a value
	long    string // long options that take a value, blank-separated
	skip    int    // operands of the wrapper itself before the command
	assigns bool   // accepts NAME=value before the command
	changes bool   // alters what runs
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

// unwrap takes the wrappers off a command, one after the other.
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
		u.noteUnknown(name, u.words[1:len(u.words)-len(rest)], rest, split)
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

// noteUnknown notes what is only known when a wrapper runs. own are the words of the wrapper itself,
// rest those of the command that it starts; split says that it takes that command as one text (env -S).
func (u *unwrapped) noteUnknown(name string, own, rest []word, split bool) {
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
		u.textUnknown = name + " runs a program that is only known when it runs"
	}
}

// looksUp reports "command -v NAME", which runs nothing.
func looksUp(words []word) bool {
	return len(words) > 1 && (words[1].value == "-v" || words[1].value == "-V")
}

// command returns the words after the wrapper's own options and operands. split says that an option
// holds the command as one text (env -S).
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
