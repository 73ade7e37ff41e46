package permissions

import (
	"cmp"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/capability"
)

// Ranks of a rule's permission for a call: exact > capability > wildcard (R115).
const (
	noMatch = iota
	byWildcard
	byCapability
	byName
)

// weight orders the rules that match: bigger is more specific (R115). Where all that
// R115 names is equal, the wildcard permission with more literal text ("mcp:git:*" over
// "*") comes first.
type weight struct {
	permission int
	literal    int
	scope      Scope
	name       int
}

func (w weight) compare(v weight) int {
	c := cmp.Or(cmp.Compare(w.permission, v.permission), cmp.Compare(w.literal, v.literal), cmp.Compare(w.scope, v.scope))
	if c == 0 && w.permission == byWildcard {
		return cmp.Compare(w.name, v.name)
	}
	return c
}

func rankPermission(permission string, names []string, capName string) int {
	if permission == "*" {
		return byWildcard
	}
	for _, name := range names {
		if permission == name {
			return byName
		}
	}
	if capName != "" && permission == capName {
		return byCapability
	}
	if !strings.Contains(permission, "*") {
		return noMatch
	}
	for _, name := range append(names[:len(names):len(names)], capName) {
		if name != "" && matchText(permission, name) {
			return byWildcard
		}
	}
	return noMatch
}

// matchRule reports whether the rule's pattern accepts the resource, and the length of
// the pattern's literal text. Allow is compared exactly and with the real name only;
// ask and deny with every name, folded (P3, P4).
func matchRule(rule Rule, rank int, call Call, p pair) (literal int, ok bool) {
	if rule.Source == SourceAlways && rule.Action == capability.Allow {
		return literalText(rule.Pattern), !p.Dynamic && rule.For.Same(call.Identity) && storesAlways(rule, p)
	}
	if matchesAll(rule.Pattern) {
		return 0, true
	}
	switch p.Kind {
	case Path:
		if p.Judged != nil && rank == byName {
			return 0, false // a rule for the shell tool speaks of commands
		}
		return matchPathRule(rule, call, p)
	case Command:
		return literalText(rule.Pattern), matchCommandRule(rule, p)
	case Host:
		return matchHostRule(rule, call, p)
	case Program:
		return literalText(rule.Pattern), matchText(rule.Pattern, p.Name)
	}
	return 0, false
}

func matchHostRule(rule Rule, call Call, p pair) (literal int, ok bool) {
	patterns, err := capability.ExpandHost(rule.Pattern, call.Vars)
	if err != nil {
		return 0, rule.Action == capability.Deny
	}
	names := p.all()
	if rule.Action == capability.Allow {
		names = names[:1]
	}
	for _, pattern := range patterns {
		for _, name := range names {
			if capability.MatchHost(pattern, name) {
				return literalLen(pattern), true
			}
		}
	}
	return 0, false
}

func matchesAll(pattern string) bool {
	return pattern == "" || pattern == "*" || pattern == "**"
}

// matchCommandRule compares a pattern that a user wrote: the exact text of a command,
// a glob, or a prefix, which is a text with one "*" at its end. The prefix of an allow
// ends where a word does, so that "git diff*" says nothing of git difftool; that of an
// ask or a deny may end anywhere.
func matchCommandRule(rule Rule, p pair) bool {
	if rule.Action == capability.Allow {
		return !p.Dynamic && matchCommand(rule.Pattern, p.Name) && endsWord(rule.Pattern, p.Name)
	}
	pattern := foldText(rule.Pattern)
	for _, name := range p.all() {
		if matchCommand(pattern, foldText(name)) {
			return true
		}
	}
	return false
}

// endsWord reports whether a text that matches a prefix ends with it, or continues with a new word.
// It is true of patterns that are not prefixes, or end in a character that ends a word.
func endsWord(pattern, text string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	if !open || prefix == "" || strings.ContainsAny(prefix, `*\`) || !wordByte(prefix[len(prefix)-1]) {
		return true
	}
	return len(text) == len(prefix) || len(text) > len(prefix) && text[len(prefix)] == ' '
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// storesAlways reports whether "always" would store this very rule for this very resource, for
// a restricted agent or another. The words after a stored prefix may hold an option that changes what the command does,
// which the text cannot tell and its judge can; and a rule for a file says nothing of
// what lies beneath a directory that has its name later.
func storesAlways(rule Rule, p pair) bool {
	pattern, ok := alwaysPattern(p)
	if !ok || pattern == rule.Pattern {
		return ok
	}
	exact, ok := exactCommand(p)
	return ok && p.Kind == Command && exact == rule.Pattern
}

// matchCommand compares a pattern with the text of one simple command. A pattern that
// ends in " *" also accepts the command without further arguments.
func matchCommand(pattern, text string) bool {
	if matchText(pattern, text) {
		return true
	}
	bare, ok := strings.CutSuffix(pattern, " *")
	return ok && matchText(bare, text)
}

// matchText is a glob over plain text: "*" accepts any run of characters, blanks and
// slashes included, and "\" makes the next character literal.
func matchText(pattern, text string) bool {
	// Greedy matching with one point to fall back to keeps this linear in practice and
	// quadratic at worst, whatever the pattern.
	star, mark := -1, 0
	pi, ti := 0, 0
	for ti < len(text) {
		if pi < len(pattern) {
			c, width := pattern[pi], 1
			switch {
			case c == '*':
				star, mark = pi, ti
				pi++
				continue
			case c == '\\' && pi+1 < len(pattern):
				c, width = pattern[pi+1], 2
			}
			if c == text[ti] {
				pi += width
				ti++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		pi, ti = star+1, mark
	}
	for pi < len(pattern) && pattern[pi] == '*' {
		pi++
	}
	return pi == len(pattern)
}

func matchPathRule(rule Rule, call Call, p pair) (literal int, ok bool) {
	forms, known := pathForms(rule.Pattern, call)
	if !known {
		// A deny that cannot be understood is kept; a grant is not.
		return 0, rule.Action == capability.Deny
	}
	names, fold := p.all(), rule.Action != capability.Allow
	if !fold {
		names = names[:1]
	}
	for _, form := range forms {
		for _, name := range names {
			if fold {
				ok = matchPath(foldPath(form), foldPath(slash(name)))
			} else {
				ok = matchPath(form, slash(name))
			}
			if ok {
				return literalLen(form), true
			}
		}
	}
	return 0, false
}

// pathForms returns the absolute patterns that a rule's pattern stands for.
func pathForms(pattern string, call Call) (forms []string, known bool) {
	if rest, ok := strings.CutPrefix(pattern, "~"); ok && (rest == "" || rest[0] == '/') {
		if call.Home == "" {
			return nil, true
		}
		return []string{capability.EscapeGlob(slash(call.Home)) + rest}, true
	}
	if strings.HasPrefix(pattern, "**/") {
		return []string{"/" + pattern}, doublestar.ValidatePattern(pattern)
	}
	forms, err := capability.ExpandPath(pattern, call.Vars)
	return forms, err == nil
}

// matchPath compares a glob with a clean slash path. A pattern without wildcards also
// accepts all that lies beneath it.
func matchPath(pattern, name string) bool {
	return capability.MatchPath(pattern, path.Clean(name))
}

// literalLen counts the characters of a pattern that stand for themselves.
func literalLen(pattern string) int {
	n := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i < len(pattern) {
				n++
			}
		case '*', '?', '[', ']', '{', '}':
		default:
			n++
		}
	}
	return n
}

// literalText is literalLen for patterns in which "*" is the only wildcard.
func literalText(pattern string) int {
	n := 0
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '*':
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			n++
		default:
			n++
		}
	}
	return n
}

func slash(name string) string {
	if len(name) > 1 && name[1] == ':' || strings.HasPrefix(name, `\\`) {
		return strings.ReplaceAll(name, `\`, "/")
	}
	return name
}
