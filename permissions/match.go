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

// weight orders the rules that match: bigger is more specific (R115). Among wildcard
// permissions the one with more literal text ("mcp:git:*" over "*") comes first.
type weight struct {
	permission int
	name       int
	literal    int
	scope      Scope
}

func (w weight) compare(v weight) int {
	if c := cmp.Compare(w.permission, v.permission); c != 0 {
		return c
	}
	if w.permission == byWildcard && w.name != v.name {
		return cmp.Compare(w.name, v.name)
	}
	return cmp.Or(cmp.Compare(w.literal, v.literal), cmp.Compare(w.scope, v.scope))
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
		return literalLen(rule.Pattern), matchCommandRule(rule, p)
	case Host:
		return matchHostRule(rule, call, p)
	case Program:
		return literalLen(rule.Pattern), matchText(rule.Pattern, p.Name)
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

func matchCommandRule(rule Rule, p pair) bool {
	if rule.Action == capability.Allow {
		return !p.Dynamic && matchCommand(rule.Pattern, p.Name) && (rule.Source != sourceAlways || storesAlways(rule, p))
	}
	pattern := foldText(rule.Pattern)
	for _, name := range p.all() {
		if matchCommand(pattern, foldText(name)) {
			return true
		}
	}
	return false
}

// storesAlways reports that "always" would store this very rule for this very command:
// the words behind a stored prefix may hold an option that changes what it does, which
// the text cannot tell and the judge of the command can.
func storesAlways(rule Rule, p pair) bool {
	pattern, ok := alwaysPattern(p)
	return ok && pattern == rule.Pattern
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

func slash(name string) string {
	if len(name) > 1 && name[1] == ':' || strings.HasPrefix(name, `\\`) {
		return strings.ReplaceAll(name, `\`, "/")
	}
	return name
}
