package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	// namesBytes bounds the names of tools from elsewhere in one text for the model, in bytes: a server may have any
	// number of tools, and the text is a part of every request.
	namesBytes = 1 << 10
	// aboutRunes bounds what such a text holds of each source's description of itself, in characters.
	aboutRunes = 80
)

// howToCall tells the model how to call deferred tools.
func (c *catalogue) howToCall() string {
	if c.listedOnly {
		return "These can be called once they are listed, from your next answer on: look for them with tool_search where they are named alone."
	}
	return "These can be called by name although they are not listed; when arguments do not fit, the answer has the schema."
}

// nameDeferred names deferred tools for the model, and tells it how to call them. It is "" when there are none.
func (c *catalogue) nameDeferred(list []*tools.Entry) string {
	if len(list) == 0 {
		return ""
	}
	return c.howToCall() + "\n" + nameTools(list)
}

// nameTools names tools: in one line the agent's own tools, and in one line each those of another source.
func nameTools(list []*tools.Entry) string {
	own, sources := groupBySource(list)
	lines := sourceLines(sources)
	if len(own) > 0 {
		lines = slices.Insert(lines, 0, "- built in: "+strings.Join(own, ", "))
	}
	return strings.Join(lines, "\n")
}

// sourceTools is the tools of one server, provider or other source.
type sourceTools struct {
	// name names the source, about is its description of itself, prefix is the common prefix of
	// the names of its tools.
	name, about, prefix string
	names               []string
}

// groupBySource groups tools by their source, in the order of the list; own are the names of the agent's
// own tools.
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

// sourceLines returns a line for each source, which together fit into namesBytes. The sources take turns in
// adding a name, so that a large one leaves room for the names of the others. When even the heads of the lines do
// not fit, the sources' descriptions of themselves are left out, and then the last sources.
func sourceLines(sources []*sourceTools) []string {
	const more = len(", and 1000 more")
	room := func(about bool) int {
		sum := 0
		for _, c := range sources {
			sum += len(c.head(about)) + more
		}
		return namesBytes - sum
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

// head returns a line up to the names.
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

// short returns a name without the prefix.
func (c *sourceTools) short(i int) string { return strings.TrimPrefix(c.names[i], c.prefix) }

// line returns a line with the first n names.
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
