package session

import (
	"fmt"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// helpText is /help.
func helpText(commands []Command, modes []Mode, main *pipeline.Pipeline) string {
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "- `/%s`: %s\n", c.Name, c.Description)
	}
	b.WriteString("\n**Modes**\n\n")
	for _, m := range modes {
		fmt.Fprintf(&b, "- %s: %s\n", m.Name, m.Description)
	}
	b.WriteString("\n**Tools**\n\n")
	for _, tool := range main.Listed() {
		_, card := main.Label(tool.Name)
		fmt.Fprintf(&b, "- `%s` (%s)\n", tool.Name, card.Kind)
	}
	return b.String()
}

// statusText is /status. standing are the notices that still hold.
func statusText(c *choices, spent *account, at tools.Session, standing []transcript.Notice) string {
	chosen := c.get()
	usage, window := spent.now()
	var b strings.Builder
	fmt.Fprintf(&b, "- Model: `%s`", chosen.model)
	if chosen.thought != "" {
		fmt.Fprintf(&b, ", thinking %s", chosen.thought)
	}
	if server := c.models.server().Server; server != "" {
		fmt.Fprintf(&b, "\n- Server: %s", server)
	}
	fmt.Fprintf(&b, "\n- Mode: %s\n- Directory: `%s`\n", chosen.mode, at.Cwd)
	for _, dir := range at.Roots[1:] {
		fmt.Fprintf(&b, "- Also: `%s`\n", dir)
	}
	if report, known := c.modes.sandbox.Known(); known {
		fmt.Fprintf(&b, "- Sandbox: %s\n", report)
	} else {
		b.WriteString("- Sandbox: not known yet\n")
	}
	if window.Size > 0 {
		fmt.Fprintf(&b, "- Context: %d of %d tokens\n", window.Used, window.Size)
	} else if window.Used > 0 {
		fmt.Fprintf(&b, "- Context: %d tokens; the window of this model is not known, set `model.window` in the configuration\n", window.Used)
	}
	fmt.Fprintf(&b, "- Used so far: %d tokens in, %d cached, %d out, %d reasoning\n",
		usage.Input, usage.CacheRead, usage.Output, usage.Reasoning)
	for _, notice := range standing {
		fmt.Fprintf(&b, "- %s: %s\n", notice.Title, kinds.Code(notice.Text, 2*lineRunes))
	}
	return b.String()
}
