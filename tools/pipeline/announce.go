package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// announcements are what the model knows of the tools: initial from the list of the requests, changes from
// the conversation since.
type announcements struct {
	initial knowledge
	changes []announcement
}

// knowledge is what the model was told: tools by id, with their digests; servers that are away, by
// awayMark and id; and onlyMark.
type knowledge map[string]string

// announcement is a text of the conversation, and what is known with it.
type announcement struct {
	text  string
	state knowledge
}

// awayMark stands before the id of a server, and onlyMark says that the model knows that
// only listed tools can be called; no tool's id is like them.
const (
	awayMark = "away "
	onlyMark = "listed only"
)

// The announcement of a change stands between these.
const (
	announcementHead = "<tools_changed>"
	announcementTail = "</tools_changed>"
)

// state returns what a model knows after it was told of these tools; the caller holds mu.
func (c *catalogue) state(list []*tools.Entry) knowledge {
	state := knowledge{}
	for _, entry := range list {
		state[entry.ID] = digestOf(entry)
	}
	return state
}

// Announce returns what the model has to be told before its next request: which tools came,
// changed or went since it was told last, and which servers went away or came back. away are the
// ids of the servers that cannot be reached; stands reports whether a text still stands in the
// conversation. It returns "" when there is nothing to tell.
func (p *Pipeline) Announce(away []string, stands func(text string) bool) string {
	return p.catalogue.announce(p.requestPolicy(), away, stands)
}

func (c *catalogue) announce(policy *ModePolicy, away []string, stands func(text string) bool) string {
	c.refreshAndLock()
	defer c.mu.Unlock()
	c.freeze(policy)
	known := c.announced.known(stands)
	now := maps.Clone(known)
	text := c.text(c.news(known, now, policy, away))
	if text != "" {
		c.announced.changes = append(c.announced.changes, announcement{text, now})
	}
	return text
}

// known returns what the model knows when stands reports which texts still stand in the
// conversation: what was known with the last of them.
func (a *announcements) known(stands func(text string) bool) knowledge {
	for _, one := range slices.Backward(a.changes) {
		if stands(one.text) {
			return one.state
		}
	}
	return a.initial
}

// news returns how the tools and servers differ from what the model knows, and changes now to what
// it knows with the news. The caller holds mu.
func (c *catalogue) news(known, now knowledge, policy *ModePolicy, away []string) (n news) {
	if c.only && known[onlyMark] == "" && len(c.named(policy)) > 0 {
		n.only, now[onlyMark] = true, onlyMark
	}
	for _, entry := range c.order {
		digest, old := c.digests[entry.ID], known[entry.ID]
		if old == digest || policy.refuse(entry) != "" || policy.lists(entry) {
			continue // known, or not for this mode: it is told when the mode has ended
		}
		now[entry.ID] = digest
		if old == "" {
			n.came = append(n.came, entry)
		} else {
			n.changed = append(n.changed, entry)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		server, mark := strings.CutPrefix(id, awayMark)
		switch {
		case mark && !slices.Contains(away, server):
			n.back = append(n.back, server)
			delete(now, id)
		case !mark && id != onlyMark && c.digests[id] == "":
			n.gone = append(n.gone, id)
			delete(now, id)
		}
	}
	for _, server := range away {
		if _, old := known[awayMark+server]; !old {
			n.away = append(n.away, server)
			now[awayMark+server] = awayMark
		}
	}
	return n
}

// news is what has changed since the model was told last.
type news struct {
	came, changed    []*tools.Entry
	gone, away, back []string
	// only says that the model server takes calls of listed tools alone, other than the
	// one before, or than was known when the tools were described.
	only bool
}

// text puts news into words; the caller holds mu.
func (c *catalogue) text(n news) string {
	var b strings.Builder
	if n.only {
		b.WriteString("Other than you were told, only the tools of your list can be called now: look for a further one with tool_search, and it is in your list from your next answer on.\n")
	}
	if len(n.came) > 0 {
		b.WriteString("There are further tools now. " + c.howToCall() + "\n" + c.describe(n.came))
	}
	if len(n.changed) > 0 {
		b.WriteString("These tools are others than you were told:\n" + c.describe(n.changed))
	}
	if len(n.gone) > 0 {
		b.WriteString("These tools are gone, and calls of them fail: " + shorten(n.gone) + "\n")
	}
	for _, server := range n.away {
		fmt.Fprintf(&b, "The MCP server %s cannot be reached now: calls of its tools fail until it is back.\n", server)
	}
	for _, server := range n.back {
		fmt.Fprintf(&b, "The MCP server %s can be reached again.\n", server)
	}
	if b.Len() == 0 {
		return ""
	}
	return announcementHead + "\n" + b.String() + announcementTail
}

// describe describes tools in full as far as they would stand in the requests, else by
// their names.
func (c *catalogue) describe(list []*tools.Entry) string {
	size := 0
	for _, entry := range list {
		size += sizeOf(entry)
	}
	if size > c.deferral.Size && c.deferral.Threshold > 0 {
		own, sources := groupBySource(list)
		lines := sourceLines(sources, namesBytes)
		if len(own) > 0 {
			lines = slices.Insert(lines, 0, "- built in: "+strings.Join(own, ", "))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	var b strings.Builder
	for _, entry := range list {
		c.noteFound(entry)
		tool := forModel(entry)
		fmt.Fprintf(&b, "- %s: %s Arguments, as a JSON Schema: %s\n", tool.Name, kinds.Line(tool.Description, 2*maxBrief), tool.Parameters)
	}
	return b.String()
}

// shorten lists names as far as there is room.
func shorten(names []string) string {
	size := 0
	for i, name := range names {
		if size += len(name) + len(", "); size > namesBytes && i > 0 {
			return fmt.Sprintf("%s, and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}
