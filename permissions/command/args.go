package command

import (
	"slices"
	"strings"
)

// The functions of this file find options and operands in the words of any command, listed or not.
// They know no grammar of options, so they find too many rather than too few. The grammar of the
// listed commands is in options.go.

// hasFlag reports one of the short options, alone or in a cluster, or one of the long options, which
// may be abbreviated as GNU programs allow. Words after "--" do not count.
func hasFlag(s simple, short string, long ...string) bool {
	for _, w := range s.args() {
		v := w.value
		if v == "--" {
			return false
		}
		if strings.HasPrefix(v, "--") {
			name := optionName(v)
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

// hasOption reports one of the options, or one of the verbs, of a blank-separated list among the
// arguments: a long option also abbreviated, a short one also in a cluster. Words after "--" count.
func hasOption(args []string, options string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name := optionName(a)
		for _, option := range strings.Fields(options) {
			if name == option || len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name) ||
				len(option) == 2 && option[0] == '-' && shortOption(a, option[1]) {
				return true
			}
		}
		return false
	})
}

// hasAnyArg reports one of the names among the arguments, spelt exactly.
func hasAnyArg(s simple, names ...string) bool {
	return slices.ContainsFunc(s.args(), func(w word) bool { return slices.Contains(names, w.value) })
}

// shortOption reports a word that is a short option, or a cluster with it.
func shortOption(arg string, option byte) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.IndexByte(arg, option) > 0
}

// optionName returns an option without its attached value.
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
				out = append(out, w.piece(rest))
			} else if rest, ok := strings.CutPrefix(w.value, name); ok && rest != "" && !strings.HasPrefix(name, "--") {
				out = append(out, w.piece(rest))
			} else if endsCluster(w.value, name) && i+1 < len(args) {
				out = append(out, args[i+1])
			}
		}
	}
	return out
}

// endsCluster reports a short option that is the last of a cluster.
func endsCluster(v, option string) bool {
	if len(option) != 2 || len(v) < 3 || v[0] != '-' || v[len(v)-1] != option[1] {
		return false
	}
	return strings.IndexFunc(v[1:], func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

// operands returns the words that are not options.
func operands(s simple) []word {
	var out []word
	ended := false // the options, by "--"
	for _, w := range s.args() {
		switch {
		case ended, w.value == "-", !strings.HasPrefix(w.value, "-"):
			out = append(out, w)
		case w.value == "--":
			ended = true
		}
	}
	return out
}

// afterDashes drops a "--" in front.
func afterDashes(args []word) []word {
	if len(args) > 0 && args[0].value == "--" {
		return args[1:]
	}
	return args
}

// subcommand returns the subcommand of a program such as git or npm. Empty: there is none.
func subcommand(s simple) string {
	if words := subcommandWords(s); len(words) > 0 {
		return words[0].value
	}
	return ""
}

// subcommandWords returns the words of a command from its subcommand on: from the first word that is
// neither an option nor the value of an option of the program itself.
func subcommandWords(s simple) []word {
	valued := "-C -c --git-dir --work-tree --prefix --cwd"
	switch s.name() {
	case "git":
		valued += " --namespace --super-prefix --config-env --attr-source"
	case "kubectl":
		valued += " -n --context"
	case "systemctl", "loginctl":
		valued += " -H --host -M --machine -n --lines -o --output -p --property -P -s --signal -t --type --boot-loader-entry --boot-loader-menu " +
			"--check-inhibitors --image --job-mode --kill-who --kill-whom --message --preset-mode --root --state --timestamp --what --when"
	}
	args := s.args()
	for i, w := range args {
		if !strings.HasPrefix(w.value, "-") && (i == 0 || !hasWord(valued, args[i-1].value)) {
			return args[i:]
		}
	}
	return nil
}

// hasWord reports whether w is one of the words of a blank-separated list.
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
