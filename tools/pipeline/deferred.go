package pipeline

import (
	"fmt"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	// namesBytes bounds the lines about deferred tools from elsewhere, all together.
	namesBytes = 1 << 10
	// aboutRunes bounds what such a line holds of the source of the tools, in characters.
	aboutRunes = 80
)

// howToCall is what the model is told of all deferred tools.
func (c *catalogue) howToCall() string {
	if c.only {
		return "These can be called once they are listed, from your next answer on: look for them with tool_search where they are named alone."
	}
	return "These can be called by name although they are not listed; when arguments do not fit, the answer has the schema."
}

// nameDeferred names deferred tools for the model: those of the agent in one line, those
// from elsewhere in one for each source. It is "" when there are none.
func (c *catalogue) nameDeferred(list []*tools.Entry) string {
	own, sources := groupBySource(list)
	var lines []string
	if len(own) > 0 {
		lines = append(lines, "- built in: "+strings.Join(own, ", "))
	}
	lines = append(lines, sourceLines(sources, namesBytes)...)
	if len(lines) == 0 {
		return ""
	}
	return c.howToCall() + "\n" + strings.Join(lines, "\n")
}

// sourceTools is the tools of one server, provider or other source.
type sourceTools struct {
	// name is their source, about how it describes itself, prefix what their names begin
	// with.
	name, about, prefix string
	names               []string
}

// groupBySource sorts tools by their source, in the order in which the sources come; own are the names
// of the agent's.
func groupBySource(list []*tools.Entry) (own []string, sources []*sourceTools) {
	known := map[string]*sourceTools{}
	for _, entry := range list {
		if !entry.Foreign() {
			own = append(own, entry.ID)
			continue
		}
		key, fresh := entry.Source.Kind, &sourceTools{name: "scripts of the user's"}
		switch key {
		case tools.MCP:
			key += ":" + entry.Source.Server
			fresh = &sourceTools{name: "MCP server " + entry.Source.Server, prefix: "mcp__" + entry.Source.Server + "__"}
		case tools.Provider:
			key += ":" + entry.Source.Server
			fresh = &sourceTools{name: "provider " + kinds.Line(entry.Source.Server, aboutRunes), prefix: "tb__" + entry.Source.Server + "__"}
		}
		if known[key] == nil {
			fresh.about = kinds.Line(entry.Source.About, aboutRunes)
			known[key], sources = fresh, append(sources, fresh)
		}
		c := known[key]
		if c.names = append(c.names, entry.ID); !strings.HasPrefix(entry.ID, c.prefix) {
			c.prefix = ""
		}
	}
	return own, sources
}

// sourceLines are a line for each, together no longer than most bytes. Names are dealt out
// in turns, so that each shows some; when there is not even room for all heads, first what
// they say of themselves is left out, then the last of them.
func sourceLines(sources []*sourceTools, most int) []string {
	const more = len(", and 1000 more")
	room := func(about bool) int {
		sum := 0
		for _, c := range sources {
			sum += len(c.head(about)) + more
		}
		return most - sum
	}
	about := room(true) >= 0
	cut := 0
	for ; room(about) < 0 && len(sources) > 1; cut++ {
		sources = sources[:len(sources)-1]
	}
	left, shown := room(about), make([]int, len(sources))
	for dealt := true; dealt; {
		dealt = false
		for i, c := range sources {
			if shown[i] == len(c.names) {
				continue
			}
			if cost := len(c.short(shown[i])) + len(", "); cost <= left {
				left, dealt = left-cost, true
				shown[i]++
			}
		}
	}
	var lines []string
	for i, c := range sources {
		lines = append(lines, c.line(about, shown[i]))
	}
	if cut > 0 {
		lines = append(lines, fmt.Sprintf("- and %s more; tool_search finds their tools", kinds.Count(cut, "source")))
	}
	return lines
}

// head is a line up to the names.
func (c *sourceTools) head(about bool) string {
	head := "- " + c.name
	if about && c.about != "" {
		head += " (" + c.about + ")"
	}
	if c.prefix != "" {
		return head + ", each name after " + c.prefix + ": "
	}
	return head + ": "
}

// short is a name without the prefix.
func (c *sourceTools) short(i int) string { return strings.TrimPrefix(c.names[i], c.prefix) }

// line names the first n tools.
func (c *sourceTools) line(about bool, n int) string {
	var b strings.Builder
	b.WriteString(c.head(about))
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.short(i))
	}
	if rest := len(c.names) - n; rest > 0 {
		if n > 0 {
			b.WriteString(", and ")
		}
		fmt.Fprintf(&b, "%d more", rest)
	}
	return b.String()
}
