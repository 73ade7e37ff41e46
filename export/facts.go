package export

import (
	"fmt"
	"strings"

	"acp-agent/kinds"
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
