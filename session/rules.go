package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// ListedRule is a rule in force, as it is listed for people.
type ListedRule struct {
	// Number is what it can be revoked by; 0 for a rule that stands in a file or is
	// shipped.
	Number int
	Scope  permissions.Scope
	Rule   permissions.Rule
	// Agents are the names from below the main agent down to the subagent that alone
	// has the rule; none for a rule of the session.
	Agents []string
	// Void says that the rule does not count: its tool is not what it was when the answer
	// was given (M4).
	Void bool
}

// Where says in words where the rule stands.
func (l ListedRule) Where() string {
	switch {
	case len(l.Agents) > 0:
		return "your answer to " + transcript.PathText(l.Agents)
	case l.Scope == permissions.Session && (l.Rule.Source == permissions.SourceAlways || l.Rule.Source == pipeline.SourceAnswer):
		return "your answer in this session"
	case l.Scope == permissions.Project && l.Rule.Source == permissions.SourceAlways:
		return "kept for this project"
	case l.Scope == permissions.DefaultScope:
		return "shipped"
	}
	if l.Rule.Source == "" {
		return l.Scope.String()
	}
	return l.Rule.Source
}

// Rules lists the rules in force: first those that the person's answers added,
// with numbers, then the others, the strongest scope first.
func (s *Session) Rules() []ListedRule {
	set := s.policy.Rules()
	var kept, files []ListedRule
	for _, scope := range []permissions.Scope{permissions.Project, permissions.Session} {
		for _, rule := range set.In(scope) {
			if scope == permissions.Session || rule.Source == permissions.SourceAlways {
				kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: scope, Rule: rule})
			}
		}
	}
	for _, f := range s.footingsNow() {
		for _, rule := range f.answers() {
			kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: permissions.Session, Rule: rule, Agents: f.names})
		}
	}
	for _, scope := range []permissions.Scope{permissions.Project, permissions.User, permissions.Manifest, permissions.DefaultScope} {
		for _, rule := range set.In(scope) {
			if scope == permissions.DefaultScope && !s.shippedTool(rule.Permission) {
				continue
			}
			if scope != permissions.Project || rule.Source != permissions.SourceAlways {
				files = append(files, ListedRule{Scope: scope, Rule: rule})
			}
		}
	}
	for i := range kept {
		kept[i].Void = s.void(kept[i].Rule)
	}
	return append(kept, files...)
}

// shippedTool reports whether a shipped rule is about tools that there are: some of its names
// belong to tools that this build does not have.
func (s *Session) shippedTool(name string) bool {
	_, there := s.host.Registry.Get(name)
	return there || strings.Contains(name, "*")
}

// void reports an answer about a tool from elsewhere that is another one by now.
func (s *Session) void(rule permissions.Rule) bool {
	if rule.Source != permissions.SourceAlways {
		return false
	}
	now := s.tools.Identity(rule.Permission)
	return now != permissions.Identity{} && !now.Same(rule.For)
}

// Revoke takes a rule away that an answer of the person added. It is given as
// Rules listed it, so that a rule that came meanwhile is not hit in its place.
func (s *Session) Revoke(listed ListedRule) error {
	gone := fmt.Errorf("%s is no longer in force", ruleText(listed.Rule))
	switch {
	case listed.Number == 0:
		return fmt.Errorf("%s stands in %s; take it out there", ruleText(listed.Rule), listed.Where())
	case len(listed.Agents) > 0:
		for _, f := range s.footingsNow() {
			if slices.Equal(f.names, listed.Agents) && f.policy.Forget(listed.Rule) {
				return nil
			}
		}
		return gone
	case listed.Scope == permissions.Session:
		if !s.policy.Forget(listed.Rule) {
			return gone
		}
		return nil
	case s.project.store == nil:
		return errNoTrust
	}
	had := false
	err := s.project.store.Update(s.project.dir, func(r *projects.Record) error {
		had = r.RemoveRule(listed.Rule)
		return nil
	})
	s.refreshProject()
	if err == nil && !had {
		return gone
	}
	return err
}

// permissionsCommand is /permissions.
func (s *Session) permissionsCommand(ctx context.Context, text string) string {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		s.refreshProject()
		s.refreshTools(ctx) // of some answers it depends on the tool as it is whether they count
		rules := s.Rules()
		s.mu.Lock()
		s.listed = rules
		s.mu.Unlock()
		return rulesText(rules)
	case words[0] == "revoke" && len(words) == 2:
		return s.revokeCommand(words[1])
	case words[0] == "keep" && len(words) < 3:
		return s.keepCommand(words[1:])
	case words[0] == "explain" && len(words) > 1 && s.host.Explain != nil:
		return s.host.Explain(ctx, s, strings.TrimSpace(strings.TrimPrefix(text, words[0])))
	}
	return "Usage: `/permissions` lists the rules, " + s.permissionsHint() + "."
}

// permissionsForms is what may follow the command, as an editor shows it.
func (s *Session) permissionsForms() string {
	if s.host.Explain == nil {
		return "revoke NUMBER | keep [NUMBER]"
	}
	return "revoke NUMBER | keep [NUMBER] | explain COMMAND"
}

// permissionsHint says what may follow the command.
func (s *Session) permissionsHint() string {
	hint := "`/permissions revoke 2` takes the second away, `/permissions keep 2` keeps it for this project, " +
		"`/permissions keep` the one that you allowed last"
	if s.host.Explain != nil {
		hint += ", `/permissions explain git push` says how a command is judged"
	}
	return hint
}

// revokeCommand revokes by a number of the list that was shown last.
func (s *Session) revokeCommand(number string) string {
	rule, err := s.numbered(number)
	if err == nil {
		err = s.Revoke(rule)
	}
	if err != nil {
		return "Nothing was revoked: " + kinds.Visible(err.Error()) + "."
	}
	return fmt.Sprintf("Revoked: %s %s (%s).", rule.Rule.Action, ruleText(rule.Rule), rule.Where())
}

// rulesText lists rules for people, in Markdown.
func rulesText(rules []ListedRule) string {
	var b strings.Builder
	section := func(title string, of func(ListedRule) bool) {
		first := true
		for _, l := range rules {
			if !of(l) {
				continue
			}
			if first {
				fmt.Fprintf(&b, "**%s**\n\n", title)
				first = false
			}
			mark := "-"
			if l.Number > 0 {
				mark = strconv.Itoa(l.Number) + "."
			}
			fmt.Fprintf(&b, "%s %s %s: %s, %s", mark, l.Rule.Action, ruleText(l.Rule), l.Scope, kinds.Line(l.Where(), lineRunes))
			if !l.Rule.AddedAt.IsZero() {
				fmt.Fprintf(&b, ", since %s", l.Rule.AddedAt.Format(time.RFC3339))
			}
			if l.Void {
				b.WriteString(", does not count: the tool has changed since")
			}
			b.WriteByte('\n')
		}
		if !first {
			b.WriteByte('\n')
		}
	}
	section("Your answers", func(l ListedRule) bool { return l.Number > 0 })
	section("Files", func(l ListedRule) bool { return l.Number == 0 && l.Scope != permissions.DefaultScope })
	b.WriteString(shipped(rules))
	b.WriteString("\nA deny always wins; otherwise the most specific rule does; the shipped rules come last.\n")
	return b.String()
}

// shipped lists the default rows in few lines.
func shipped(rules []ListedRule) string {
	var order []string
	names := map[string][]string{}
	for _, l := range rules {
		if l.Scope != permissions.DefaultScope {
			continue
		}
		action := l.Rule.Action.String()
		if names[action] == nil {
			order = append(order, action)
		}
		names[action] = append(names[action], ruleText(l.Rule))
	}
	var b strings.Builder
	b.WriteString("**Shipped**\n\n")
	for _, action := range order {
		fmt.Fprintf(&b, "- %s %s\n", action, strings.Join(names[action], " "))
	}
	return b.String()
}

// ruleText is a rule as people write it.
func ruleText(r permissions.Rule) string {
	if r.Pattern == "" || r.Pattern == "*" {
		return code(r.Permission)
	}
	return code(r.Permission + "(" + r.Pattern + ")")
}
