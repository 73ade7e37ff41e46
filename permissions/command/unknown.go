package command

import (
	"slices"
	"strings"
)

// nameUnknown reports a command whose name is only known when it runs.
func nameUnknown(u unwrapped, s simple) bool {
	first := s.words[0]
	return strings.Contains(first.value, unknown) || !first.static && strings.ContainsAny(first.value, "{*?[") ||
		u.appends && u.replaces(first.value)
}

// replaces reports a text into which xargs puts an argument.
func (u unwrapped) replaces(text string) bool {
	return strings.Contains(text, "{}") || containsAny(text, u.replaced...)
}

// programUnknown reports a command that is given a program as text which is only known when it runs.
func programUnknown(u unwrapped, s simple) bool {
	args := s.args()
	if !isInterpreter(s.name()) {
		return hasWord("mapfile readarray", s.name()) && slices.ContainsFunc(args, func(w word) bool { return shortOption(w.value, 'C') })
	}
	if u.appends {
		if len(args) > 0 && takesText(args[len(args)-1].value) || slices.ContainsFunc(args, func(w word) bool { return u.replaces(w.value) }) {
			return true
		}
	}
	if isShell(s.name()) && !u.appends && readsProgram(s) {
		return true
	}
	for i := 1; i < len(args); i++ {
		if !isShell(s.name()) && takesText(args[i-1].value) && !args[i].static {
			return true
		}
	}
	return false
}

// takesText reports an option with which an interpreter takes a program as text.
func takesText(option string) bool {
	return shortOption(option, 'c') || shortOption(option, 'e') || shortOption(option, 'E') || hasWord("-p -r --eval --print --command", option)
}

// redefines reports a command that changes what the name of a later command means.
func redefines(s simple) bool {
	switch s.name() {
	case "alias":
		return slices.ContainsFunc(s.args(), func(w word) bool { return !w.static || strings.Contains(w.value, "=") })
	case "hash":
		return slices.ContainsFunc(s.argv, func(a string) bool { return shortOption(a, 'p') || strings.Contains(a, unknown) })
	case "enable":
		return len(s.words) > 1
	}
	return false
}

// splits reports a word that may become several by field splitting: an unknown piece of it stands outside
// of quotes.
func splits(w word) bool {
	if w.static || !strings.Contains(w.value, unknown) {
		return false
	}
	raw := w.raw
	if _, value, ok := strings.Cut(raw, "="); ok && !strings.HasPrefix(raw, `"`) {
		raw = value
	}
	inner, ok := strings.CutPrefix(raw, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	return !ok || !closed || strings.ContainsAny(inner, `"@`)
}

// anyOption reports a word that may become any option.
func anyOption(w word) bool {
	return splits(w) && (strings.HasPrefix(w.value, unknown) || strings.HasPrefix(w.value, "-")) ||
		!w.static && strings.HasPrefix(w.value, "-") && strings.Contains(w.value, unknown)
}

// namesOutside reports a command that names a path outside the roots.
func (ps *paths) namesOutside(s simple, at dirs) bool {
	return slices.ContainsFunc(s.args(), func(w word) bool {
		names, ok := at.join(strings.ReplaceAll(w.value, unknown, "x"))
		return w.value != "" && (!ok || slices.ContainsFunc(names, func(name string) bool {
			_, inside := ps.env.Inside(name)
			return !inside
		}))
	})
}
