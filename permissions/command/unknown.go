package command

import (
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

// becomesSeveral reports a word that may become several words, or none: by field splitting, or as a
// pattern that the shell replaces by the names of files.
func becomesSeveral(w word) bool {
	return !staysOperand(w) && splits(w) || patternWord(w)
}

// patternWord reports a word that the shell may replace by the names of files.
func patternWord(w word) bool {
	return !w.static && !strings.Contains(w.value, unknown) && strings.ContainsAny(w.raw, "*?[{")
}

// staysOperand reports a word that is one operand, whatever the unknown numbers in it are. A number may
// turn out empty. Then a word of nothing else is gone unless it is quoted, and the option before it
// takes the next word for its value.
func staysOperand(w word) bool {
	if !w.number || strings.HasPrefix(w.value, "-") {
		return false
	}
	return !splits(w) || strings.Trim(w.value, unknown) != "" || strings.HasPrefix(w.raw, "$((")
}

// becomesOption reports a word that may become an option, or several words with an option among them.
func becomesOption(w word) bool {
	if w.static || staysOperand(w) {
		return false
	}
	return splits(w) || strings.HasPrefix(w.value, unknown) || w.value != "" && strings.ContainsAny(w.value[:1], "-*?[{")
}
