package command

import (
	"path"
	"slices"
	"strings"
)

// hasFlag reports one of the short flags, alone or in a cluster, or one of the long
// options, which may be shortened as GNU programs allow.
func hasFlag(s simple, short string, long ...string) bool {
	for _, w := range s.args() {
		v := w.value
		if v == "--" {
			return false
		}
		if strings.HasPrefix(v, "--") {
			name, _, _ := strings.Cut(v, "=")
			for _, l := range long {
				if len(name) > 3 && strings.HasPrefix(l, name) {
					return true
				}
			}
			continue
		}
		if len(v) > 1 && v[0] == '-' && short != "" && strings.ContainsAny(v[1:], short) {
			return true
		}
	}
	return false
}

// hasOption reports one of the options among the arguments: a long one also by its beginning, a
// short one also among others.
func hasOption(args []string, options string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		for _, option := range strings.Fields(options) {
			if name == option || len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name) ||
				len(option) == 2 && option[0] == '-' && shortOption(a, option[1]) {
				return true
			}
		}
		return false
	})
}

func hasAnyArg(s simple, names ...string) bool {
	for _, w := range s.args() {
		for _, n := range names {
			if w.value == n {
				return true
			}
		}
	}
	return false
}

// shortOption reports a word of short options among which is one.
func shortOption(arg string, option byte) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.IndexByte(arg, option) > 0
}

// optionName is an option without the value that is attached to it.
func optionName(v string) string {
	name, _, _ := strings.Cut(v, "=")
	return name
}

// optionValues returns the values of options, attached or in the next word.
func optionValues(s simple, names ...string) []word {
	var out []word
	args := s.args()
	for i, w := range args {
		for _, name := range names {
			if w.value == name && i+1 < len(args) {
				out = append(out, args[i+1])
			} else if rest, ok := strings.CutPrefix(w.value, name+"="); ok {
				out = append(out, word{value: rest, raw: w.raw, static: w.static})
			} else if rest, ok := strings.CutPrefix(w.value, name); ok && rest != "" && !strings.HasPrefix(name, "--") {
				out = append(out, word{value: rest, raw: w.raw, static: w.static})
			} else if endsCluster(w.value, name) && i+1 < len(args) {
				out = append(out, args[i+1])
			}
		}
	}
	return out
}

// endsCluster reports a short option as the last of several in one word.
func endsCluster(v, option string) bool {
	if len(option) != 2 || len(v) < 3 || v[0] != '-' || v[len(v)-1] != option[1] {
		return false
	}
	return strings.IndexFunc(v[1:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

// operands are the words that are no options.
func operands(s simple) []word {
	var out []word
	plain := false
	for _, w := range s.args() {
		switch {
		case plain, w.value == "-", !strings.HasPrefix(w.value, "-"):
			out = append(out, w)
		case w.value == "--":
			plain = true
		}
	}
	return out
}

func afterDashes(args []word) []word {
	if len(args) > 0 && args[0].value == "--" {
		return args[1:]
	}
	return args
}

// subcommand is the first word after the program that is not an option.
func subcommand(s simple) string {
	for i, w := range s.args() {
		if !strings.HasPrefix(w.value, "-") {
			if i > 0 && hasWord("-C -c --git-dir --work-tree --prefix --cwd", s.args()[i-1].value) {
				continue
			}
			return w.value
		}
	}
	return ""
}

// withoutGlobals drops the options between a program and its subcommand, so that a
// deny of "git push*" meets "git -C . push" too.
func withoutGlobals(words []word) []word {
	if len(words) < 3 || !slices.Contains([]string{"git", "docker", "kubectl", "npm", "yarn", "pnpm", "cargo"}, path.Base(words[0].value)) {
		return nil
	}
	takesValue := map[string]bool{"-C": true, "-c": true, "--git-dir": true, "--work-tree": true, "--prefix": true, "--context": true, "-n": true, "--cwd": true}
	i := 1
	for i < len(words) && strings.HasPrefix(words[i].value, "-") {
		if takesValue[words[i].value] {
			i++
		}
		i++
	}
	if i == 1 || i >= len(words) {
		return nil
	}
	return append([]word{words[0]}, words[i:]...)
}

// gitWords are the words of a git command from its subcommand on.
func gitWords(s simple) []word {
	if words := withoutGlobals(s.words); words != nil {
		return words[1:]
	}
	return s.args()
}

// gitSubcommand is the subcommand of git, after the options of git itself.
func gitSubcommand(s simple) string {
	if words := gitWords(s); len(words) > 0 {
		return words[0].value
	}
	return ""
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
