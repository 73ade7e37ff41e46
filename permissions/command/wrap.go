package command

import (
	"cmp"
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
	// files are the files that a wrapper reads.
	files []word
	// replaced holds the texts, other than "{}", that xargs replaces by an argument.
	replaced []string
	// notReadOnly is the reason why a wrapper may change what runs, even in a read-only sandbox. Empty:
	// none does.
	notReadOnly string
	// textUnknown is the reason why it is not known what a wrapper runs: it takes a program as text,
	// or words that may become several. Empty: it is known.
	textUnknown string
	// detaches: with a wrapper the command outlives the shell.
	detaches bool
}

// wrapper says how to find the command that a wrapper runs.
type wrapper struct {
	options      // of the wrapper itself
	strict  bool // the options are all listed: with any other one it is not known what runs
	skip    int  // operands of the wrapper itself before the command
	assigns bool // accepts NAME=value before the command
	changes bool // alters what runs
}

// otherWrapperOptions has the options with a value of wrappers that are not judged further.
var otherWrapperOptions = options{valued: "nugpDRTho"}

// wrapperOf returns the wrapper of a name. All that alter nothing have their options listed in full,
// since a rule for the command alone allows the line.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "nice":
		return strict(0, options{number: true, valued: "n", longVal: "--adjustment"}), true
	case "time":
		return strict(0, options{flags: "ahlpqvV", valued: "fo", long: "--append --portability --quiet --verbose", longVal: "--format --output"}), true
	case "timeout":
		return strict(1, options{flags: "fpv", valued: "ks", long: "--foreground --preserve-status --verbose", longVal: "--kill-after --signal"}), true
	case "command":
		return strict(0, options{flags: "p"}), true
	case "nohup", "builtin":
		return strict(0, options{}), true
	case "setsid":
		return strict(0, options{flags: "cfw", long: "--ctty --fork --wait"}), true
	case "stdbuf":
		return strict(0, options{valued: "ioe", longVal: "--input --output --error"}), true
	case "ionice":
		return strict(0, options{flags: "t", valued: "cnpPu", long: "--ignore", longVal: "--class --classdata --pid --pgid --uid"}), true
	case "chrt":
		return strict(1, options{flags: "abdfimoprRv", valued: "DPT", long: "--batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose"}), true
	case "taskset":
		return strict(1, options{flags: "acp", long: "--all-tasks --cpu-list --pid"}), true
	case "xargs": // without --process-slot-var, which may set PATH
		w := strict(0, options{
			flags: "0oprtx", valued: "dEILnPs", may: "eil", file: "a",
			long:    "--null --interactive --no-run-if-empty --verbose --exit --open-tty --show-limits",
			longMay: "--eof --replace --max-lines", longVal: "--delimiter --max-args --max-procs --max-chars", longFile: "--arg-file",
		})
		w.changes = true
		return w, true
	case "exec":
		return wrapper{options: options{valued: "a"}, changes: true}, true
	case "env":
		return wrapper{options: options{valued: "uCS", longVal: "--unset --chdir --split-string"}, assigns: true, changes: true}, true
	case "flock":
		return wrapper{options: otherWrapperOptions, skip: 1, changes: true}, true
	case "sudo":
		return wrapper{options: otherWrapperOptions, assigns: true, changes: true}, true
	case "parallel", "watch", "busybox", "toybox", "chronic", "unbuffer", "catchsegv", "strace", "ltrace", "script", "doas", "pkexec":
		return wrapper{options: otherWrapperOptions, changes: true}, true
	default:
		return wrapper{}, false
	}
}

// systemName returns the name of a program that is looked for on the PATH, or in a directory of the
// system. It returns "" for any other word, such as one with the path of a program in the project.
func systemName(w word) string {
	dir, base := path.Split(w.value)
	if !w.static || dir != "" && dir != "/bin/" && dir != "/usr/bin/" {
		return ""
	}
	return base
}

// strict returns a wrapper whose options are listed in full, and end before its operands.
func strict(skip int, o options) wrapper {
	o.posix = true
	return wrapper{options: o, strict: true, skip: skip}
}

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
})

// maxWrappers bounds how many wrappers a command has; one with more is denied.
const maxWrappers = 16

// unwrap takes the wrappers off a command, one after the other.
func unwrap(words []word) unwrapped {
	u := unwrapped{words: words, floor: finding{}}
	for range maxWrappers {
		if len(u.words) == 0 {
			return u
		}
		name := path.Base(u.words[0].value)
		w, ok := wrapperOf(name)
		if !ok || name == "command" && isCommandV(u.words) {
			u.hidesOptions = u.hidesOptions || runsOther(u.words)
			return u
		}
		rest, split := w.command(u.words[1:])
		if name == "sudo" || name == "doas" || name == "pkexec" {
			u.floor = u.floor.worse(denies(Privilege, name+" runs a command with other privileges"))
		}
		alone := name == "env" && len(rest) == 0 && !split
		if alone && systemName(u.words[0]) != "" {
			u.floor = u.floor.worse(asks(Unlisted, "env shows all variables of the environment, and some may hold secrets"))
		} else {
			u.floor = u.floor.worse(asks(Wrapper, name+" runs another command"))
		}
		own := u.words[1 : len(u.words)-len(rest)]
		u.noteUnknown(name, own, rest, split)
		u.noteOptions(name, w, own)
		u.wrapped = true
		u.detaches = u.detaches || detaches(name)
		if !hasWord("time timeout nice xargs command", systemName(u.words[0])) {
			u.notReadOnly = cmp.Or(u.notReadOnly, name+" may change what runs")
		}
		u.changes = u.changes || w.changes || systemName(u.words[0]) == "" || u.textUnknown != ""
		u.appends = u.appends || name == "xargs" || name == "parallel"
		if alone {
			return u
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

// noteOptions notes the files that a wrapper reads, the texts that it replaces, and an option with which
// it is not known where the command begins. GNU programs accept abbreviations, and some options have a value that only others
// seem to have: if "--form" were skipped as an option without a value, "time --form cat ./x" would look
// like a command that reads ./x.
func (u *unwrapped) noteOptions(name string, w wrapper, own []word) {
	if !w.strict {
		for _, o := range own {
			for _, option := range []string{"-I", "--replace="} {
				if text, ok := strings.CutPrefix(o.value, option); ok {
					u.noteReplaced(text)
				}
			}
		}
		return
	}
	p, unknown := w.parse(own)
	if unknown != "" || len(p.operands) > w.skip {
		u.textUnknown = cmp.Or(u.textUnknown, "with its options, it is not known what "+name+" runs")
	}
	u.files = append(u.files, p.files...)
	for _, option := range []string{"-I", "-i", "--replace"} {
		for text := range strings.SplitSeq(p.seen[option], "\n") {
			u.noteReplaced(text)
		}
	}
}

// noteReplaced notes a text that xargs replaces, unless it is empty.
func (u *unwrapped) noteReplaced(text string) {
	if text != "" {
		u.replaced = append(u.replaced, text)
	}
}

// isCommandV reports "command -v NAME", which runs nothing.
func isCommandV(words []word) bool {
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
			if !attached && (hasWord(w.longVal, v) || hasWord(w.longFile, v)) {
				i++
			}
		case len(v) > 1 && v[0] == '-':
			split = split || w.assigns && strings.Contains(v, "S")
			if at := strings.IndexAny(v[1:], w.valued+w.file); at >= 0 && at == len(v)-2 {
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
