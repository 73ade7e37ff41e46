package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// nested judges a program that a command is given as text (bash -c, eval).
func (j *judge) nested(w word, at dirs, floor finding) []simple {
	if !w.static {
		j.parts.raiseFrom(len(j.parts.list)-1, floor.orNotSandboxable("the program that the command is given is only known when it runs"))
		return nil
	}
	if j.depth++; j.depth > MaxDepth {
		j.err = errTooDeep
		return nil
	}
	defer func() { j.depth-- }()
	sub := newJudge(w.value, j.paths, j.denial.fetched)
	sub.depth = j.depth
	file, err := parseNested(w.value, j.env)
	if err != nil {
		j.parts.raiseFrom(len(j.parts.list)-1, asks(Unparsed, "the command runs a program that could not be parsed"))
		return nil
	}
	f := sub.stmts(file.Stmts, at, floor)
	j.parts.list = append(j.parts.list, sub.parts.list...)
	if sub.err != nil {
		j.err = sub.err
	}
	return f.ran
}

// parseNested parses a program given as text, within the limits of the whole text.
func parseNested(text string, env Env) (*syntax.File, error) {
	if err := shell.CheckText(text); err != nil {
		return nil, err
	}
	return shell.Parse(text, env.Dialect)
}

// programs returns the shell programs that a command is given as text.
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
		return gitPrograms(subcommandWords(s))
	case s.name() == "fd", s.name() == "fdfind":
		return textsOf(commandsAfter(args, "-x -X --exec --exec-batch", false), "{}")
	case isShell(s.name()):
		for i, w := range args {
			if strings.HasPrefix(w.value, "-") && !strings.HasPrefix(w.value, "--") && strings.Contains(w.value, "c") {
				// Each "o" takes the name of a shell option, which stands before the program.
				rest, before := args[i+1:], strings.Count(strings.ToLower(w.value), "o")
				for len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") || len(rest) > 1 && strings.HasPrefix(rest[0].value, "+") {
					before += strings.Count(strings.ToLower(rest[0].value), "o")
					rest = rest[1:]
				}
				return rest[:min(1+before, len(rest))]
			}
		}
	case s.name() == "find":
		return textsOf(commandsAfter(args, findRunning, true))
	}
	return nil
}

// gitPrograms returns the commands that an argument tells git to start.
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
				out = append(out, w.piece(value))
			case strings.HasPrefix(w.value, "-x"):
				out = append(out, w.piece(w.value[2:]))
			}
		}
		return out
	}
	return nil
}

// commandText returns a command, with more words after it, as text that can be judged. An unknown piece of a
// word becomes a variable, which is not known either.
func commandText(words []word, more ...string) word {
	argv := make([]string, len(words), len(words)+len(more))
	for i, w := range words {
		argv[i] = strings.ReplaceAll(quoted(w.value), unknown, `'"$X"'`)
	}
	return word{value: strings.Join(append(argv, more...), " "), static: true}
}

// textsOf returns each command as text that can be judged, see commandText.
func textsOf(commands [][]word, more ...string) []word {
	var out []word
	for _, words := range commands {
		out = append(out, commandText(words, more...))
	}
	return out
}
