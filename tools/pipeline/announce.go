package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// announcements holds what the model knows of the tools: initial from the first request, changes from the
// conversation since.
type announcements struct {
	initial knowledge
	changes []announcement
}

// knowledge is a state of what the model knows. It has three sorts of keys: the ids of tools, with their
// digests as values; awayMark and the id of a server that cannot be reached; listedOnlyMark.
type knowledge map[string]string

// announcement is a text in the conversation, and what the model knows after it.
type announcement struct {
	text  string
	state knowledge
}

// No id of a tool looks like these marks. listedOnlyMark means that the model knows that only listed
// tools can be called.
const (
	awayMark       = "away "
	listedOnlyMark = "listed only"
)

// These tags enclose an announcement.
const (
	announcementHead = "<tools_changed>"
	announcementTail = "</tools_changed>"
)

// knowledgeOf returns what a model knows that has seen these tools; the caller holds mu.
func (c *catalogue) knowledgeOf(list []*tools.Entry) knowledge {
	state := knowledge{}
	for _, entry := range list {
		state[entry.ID] = digestOf(entry)
	}
	return state
}

// Announce returns the text that the conversation needs before the next request: the tools that were
// added, changed or removed since the last one, and the servers that were lost or came back. away are the
// ids of the servers that cannot be reached; present reports whether a text is still part of the
// conversation, which compaction may have removed. Announce returns "" when nothing has changed.
func (p *Pipeline) Announce(away []string, present func(text string) bool) string {
	return p.catalogue.announce(p.requestPolicy(), away, present)
}

func (c *catalogue) announce(policy *ModePolicy, away []string, present func(text string) bool) string {
	c.refreshAndLock()
	defer c.mu.Unlock()
	c.freeze(policy)
	known := c.announced.known(present)
	now := maps.Clone(known)
	text := c.text(c.news(known, now, policy, away))
	if text != "" {
		c.announced.changes = append(c.announced.changes, announcement{text, now})
	}
	return text
}

// known returns what the model knows: the state after the last announcement that is still present in the
// conversation.
func (a *announcements) known(present func(text string) bool) knowledge {
	for _, one := range slices.Backward(a.changes) {
		if present(one.text) {
			return one.state
		}
	}
	return a.initial
}

// news returns how the tools and servers differ from what the model knows, and updates now to what it
// will know after the news. The caller holds mu.
func (c *catalogue) news(known, now knowledge, policy *ModePolicy, away []string) (n news) {
	if c.listedOnly && known[listedOnlyMark] == "" && len(c.named(policy)) > 0 {
		n.listedOnly, now[listedOnlyMark] = true, listedOnlyMark
	}
	for _, entry := range c.usable {
		digest, old := c.digests[entry.ID], known[entry.ID]
		if old == digest || policy.refuse(entry) != "" || policy.lists(entry) {
			continue // known, or not in this mode: it is announced when the mode has ended
		}
		now[entry.ID] = digest
		if old == "" {
			n.added = append(n.added, entry)
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
		case !mark && id != listedOnlyMark && c.digests[id] == "":
			n.removed = append(n.removed, id)
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

// news is what has changed since the last announcement.
type news struct {
	added, changed      []*tools.Entry
	removed, away, back []string
	// listedOnly says that the model server takes only calls of listed tools, which was not so
	// when the model last learned of it.
	listedOnly bool
}

// text returns the announcement of news; the caller holds mu.
func (c *catalogue) text(n news) string {
	var b strings.Builder
	if n.listedOnly {
		b.WriteString("Other than you were told, only the tools of your list can be called now: look for a further one with tool_search, and it is in your list from your next answer on.\n")
	}
	if len(n.added) > 0 {
		b.WriteString("There are further tools now. " + c.howToCall() + "\n" + c.toolLines(n.added))
	}
	if len(n.changed) > 0 {
		b.WriteString("These tools are others than you were told:\n" + c.toolLines(n.changed))
	}
	if len(n.removed) > 0 {
		b.WriteString("These tools are gone, and calls of them fail: " + shorten(n.removed) + "\n")
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

// toolLines describes tools in full, so that the model can call them at once. Tools that together are too large for the
// list of a request (Deferral.Size) are only named. The caller holds mu.
func (c *catalogue) toolLines(list []*tools.Entry) string {
	size := 0
	for _, entry := range list {
		size += sizeOf(entry)
	}
	if size > c.deferral.Size && c.deferral.Threshold > 0 {
		return nameTools(list) + "\n"
	}
	var b strings.Builder
	for _, entry := range list {
		c.noteFound(entry)
		tool := forModel(entry)
		fmt.Fprintf(&b, "- %s: %s Arguments, as a JSON Schema: %s\n", tool.Name, kinds.Line(tool.Description, 2*maxBrief), tool.Parameters)
	}
	return b.String()
}

// shorten joins as many names as fit into namesBytes.
func shorten(names []string) string {
	size := 0
	for i, name := range names {
		if size += len(name) + len(", "); size > namesBytes && i > 0 {
			return fmt.Sprintf("%s, and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}
