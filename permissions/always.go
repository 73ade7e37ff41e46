package permissions

import (
	"path"
	"slices"
	"strings"

	"acp-agent/capability"
)

// SourceAlways marks the rules that "always" stored, for a session or a project.
const SourceAlways = "always"

// shellTool is the tool whose rules speak of commands.
const shellTool = "bash"

// alwaysRules returns the narrowest rules that would allow what the call asks for, or
// why there are none: one of its parts must be asked each time (E5).
func (s Set) alwaysRules(call Call) (_ []Rule, why string) {
	if call.Tool == "" {
		return nil, "the call has no tool"
	}
	var rules []Rule
	lineage := s.lineage()
	names, pairs := call.names(), call.pairs()
	named := slices.ContainsFunc(pairs, func(p pair) bool { return p.Kind != None })
	for _, p := range pairs {
		if lineage.decidePair(call, names, p).Action == capability.Allow {
			continue
		}
		pattern, ok := s.alwaysPattern(p)
		if !ok || p.Kind == None && (named || call.Tool == shellTool) {
			return nil, p.noAlways() // an answer about one thing must not free the tool for all, nor every command
		}
		rule := Rule{Permission: call.Tool, Pattern: pattern, Action: capability.Allow, Source: SourceAlways, For: call.Identity}
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules, ""
}

// noAlways says why no rule may be stored for a part of a call.
func (p pair) noAlways() string {
	switch {
	case p.Judged != nil && p.Judged.NoAlways != "":
		return p.Judged.NoAlways
	case p.Kind == Path:
		return "a file that a command writes is asked about each time"
	case p.Dynamic:
		return "it is not wholly known before it runs"
	default:
		return "an answer about one thing must not stand for all"
	}
}

// alwaysPattern is the pattern that "always" stores for a part of a call of this agent.
func (s Set) alwaysPattern(p pair) (string, bool) {
	if s.restricted && p.Kind == Command {
		return exactCommand(p)
	}
	return alwaysPattern(p)
}

// exactCommand is the pattern of one command, without any further argument.
func exactCommand(p pair) (string, bool) {
	_, ok := alwaysPattern(p)
	return escapeText(p.Name), ok
}

func alwaysPattern(p pair) (string, bool) {
	switch p.Kind {
	case Path:
		// A file that a command writes is asked about each time: a rule for the path
		// would free the other tools, one for the command would free other files.
		return capability.EscapeGlob(slash(p.Name)), p.Name != "" && p.Judged == nil
	case Host:
		return p.Name, p.Name != "" && !strings.Contains(p.Name, "*")
	case Program:
		return escapeText(p.Name), p.Name != ""
	case Command:
		if p.Judged == nil || len(p.Judged.Always) == 0 || p.Dynamic {
			return "", false
		}
		pattern := escapeText(QuoteArgs(p.Judged.Always))
		if !p.Judged.AlwaysExact {
			pattern += " *"
		}
		return pattern, true
	default:
		return "*", p.Judged == nil
	}
}

// toAllow lists the choices of R118 for a call that runs commands.
func (s Set) toAllow(call Call) []string {
	for _, r := range call.Resources {
		if r.Kind != Command {
			continue
		}
		full := call.Text
		if full == "" {
			full = r.Name
		}
		if s.restricted {
			return []string{full}
		}
		name, _, _ := strings.Cut(r.Name, " ")
		return []string{full, path.Base(name), "*"}
	}
	return nil
}

// QuoteArgs returns the canonical text of a command line: arguments joined by one
// blank, each quoted when it holds anything but plain characters. Two different
// argument lists never have the same text, so a text that begins with the quoted form
// of some arguments and a blank is a command line that begins with those arguments.
func QuoteArgs(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		if plainArg(arg) {
			b.WriteString(arg)
			continue
		}
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(arg, "'", `'\''`))
		b.WriteByte('\'')
	}
	return b.String()
}

func plainArg(arg string) bool {
	if arg == "" {
		return false
	}
	for _, r := range arg {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r >= 0x80:
		case strings.ContainsRune("-_./:=,@%+^~*?[]{}!#", r):
		default:
			return false
		}
	}
	return true
}

func escapeText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`).Replace(text)
}
