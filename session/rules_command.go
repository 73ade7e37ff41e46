package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/transcript"
)

// permissionsCommand is /permissions, but for explain. explains says that the [Host] has that.
func permissionsCommand(ctx context.Context, b *ruleBook, s *sources, explains bool, text string) string {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		b.project.refresh()
		s.refresh(ctx) // of some answers it depends on the tool as it is whether they count
		rules := b.rules()
		b.show(rules)
		return rulesText(rules)
	case words[0] == "revoke" && len(words) == 2:
		return revokeCommand(b, words[1])
	case words[0] == "keep" && len(words) < 3:
		return keepCommand(b, words[1:])
	}
	return "Usage: `/permissions` lists the rules, " + permissionsHint(explains) + "."
}

// toExplain is what follows /permissions explain; ok says that anything does.
func toExplain(text string) (what string, ok bool) {
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != "explain" {
		return "", false
	}
	return strings.TrimSpace(strings.TrimPrefix(text, words[0])), true
}

// permissionsForms is what may follow the command, as an editor shows it.
func permissionsForms(explains bool) string {
	if !explains {
		return "revoke NUMBER | keep [NUMBER]"
	}
	return "revoke NUMBER | keep [NUMBER] | explain COMMAND"
}

// permissionsHint says what may follow the command.
func permissionsHint(explains bool) string {
	hint := "`/permissions revoke 2` takes the second away, `/permissions keep 2` keeps it for this project, " +
		"`/permissions keep` the one that you allowed last"
	if explains {
		hint += ", `/permissions explain git push` says how a command is judged"
	}
	return hint
}

// revokeCommand revokes by a number of the list that was shown last.
func revokeCommand(b *ruleBook, number string) string {
	rule, err := b.numbered(number)
	if err == nil {
		err = b.revoke(rule)
	}
	if err != nil {
		return "Nothing was revoked: " + kinds.Visible(err.Error()) + "."
	}
	return fmt.Sprintf("Revoked: %s %s (%s).", rule.Rule.Action, rule.text(), rule.Where())
}

// keepCommand is /permissions keep: without a number for the newest rule that was allowed
// in this session, else for one of the list that was shown last.
func keepCommand(b *ruleBook, words []string) string {
	var rule ListedRule
	var err error
	if len(words) == 0 {
		rule, err = b.newestAnswer()
	} else {
		rule, err = b.numbered(words[0])
	}
	if err == nil {
		err = b.keepForProject(rule)
	}
	if err != nil {
		return "Nothing was kept: " + kinds.Visible(err.Error()) + "."
	}
	who := "this project"
	if len(rule.Agents) > 0 {
		who = "all agents in this project, not only for " + kinds.Line(transcript.PathText(rule.Agents), lineRunes)
	}
	return fmt.Sprintf("Kept for %s: %s %s. `/permissions` lists it and takes it back.", who, rule.Rule.Action, ruleText(rule.Rule))
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
			fmt.Fprintf(&b, "%s %s %s: %s, %s", mark, l.Rule.Action, l.text(), l.Scope, kinds.Line(l.Where(), lineRunes))
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
	text := r.Permission
	if r.Pattern != "" && r.Pattern != "*" {
		text += "(" + r.Pattern + ")"
	}
	if r.Permission == permissions.NetworkTool && r.For.OriginName != "" { // else it would read as one for commands
		return code(text) + " for " + kinds.Line(r.For.OriginName, lineRunes)
	}
	return code(text)
}
