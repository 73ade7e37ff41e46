package export

import (
	"fmt"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// fact is one line about a conversation.
type fact struct{ name, value string }

// titleOf is the conversation's title.
func titleOf(c Conversation) string {
	if title := kinds.Line(c.Info.Title, 200); title != "" {
		return title
	}
	return "A conversation without a title"
}

// facts are what is known of a conversation as a whole.
func facts(c Conversation, list []turn) []fact {
	var all []fact
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{name, kinds.Line(value, 500)})
		}
	}
	add("Session", c.Info.ID)
	add("Directory", strings.Join(append([]string{c.Info.Cwd}, c.Info.Additional...), ", "))
	add("Model", c.Info.Model)
	add("Mode", c.Info.Mode)
	add("Begun", stamp(c.Info.Created))
	add("Last changed", stamp(c.Info.Updated))
	total := turn{}
	for _, t := range list {
		total.usage, total.cost = total.usage.Add(t.usage), total.cost+t.cost
		total.calls, total.changed = total.calls+t.calls, total.changed+t.changed
	}
	add("Turns", fmt.Sprint(len(list)))
	add("Tool calls", fmt.Sprintf("%d, of which %d changed files", total.calls, total.changed))
	if total.usage.Total() > 0 {
		add("Tokens", usageText(total.usage))
	}
	if cost := max(c.Info.Cost, total.cost); cost > 0 {
		add("Cost", dollars(cost))
	}
	add("Fork of", c.Info.ForkedFrom)
	return all
}

// usageText says what was used, in words.
func usageText(u transcript.Usage) string {
	parts := []string{thousands(u.Input+u.CacheRead+u.CacheWrite) + " in"}
	if u.CacheRead > 0 {
		parts[0] += " (" + thousands(u.CacheRead) + " from the cache)"
	}
	return strings.Join(append(parts, thousands(u.Output+u.Reasoning)+" out"), ", ")
}

// thousands writes a number with a comma between each three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func dollars(cost float64) string {
	if cost < 0.01 {
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// childText says how a subagent ended, and what it took.
func childText(r transcript.ChildRecord) string {
	text := string(r.State)
	if !r.Ended.IsZero() {
		text += ", " + r.Elapsed(r.Ended).Round(time.Second).String()
	}
	if r.Calls > 0 {
		text += ", " + kinds.Count(r.Calls, "tool call")
	}
	if r.Usage.Total() > 0 {
		text += ", " + thousands(r.Usage.Total()) + " tokens"
	}
	return text
}
