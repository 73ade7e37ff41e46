package session

import (
	"fmt"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/transcript"
)

// Bounds of what /why shows.
const (
	whyTitleRunes  = 160
	whyOutputRunes = 200
)

// questionTool is the tool that asks the user, in a form or in the chat.
const questionTool = "question"

// reason is one thing that an agent can wait for. is reports whether it waits for that; says describes
// it, in words that follow the name of the agent.
type reason struct {
	name string
	is   func(a *agentActivity) bool
	says func(a *agentActivity, now time.Time) string
}

// reasons are what an agent as a whole can wait for; the first that holds counts. callReasons has the
// reasons of its calls.
func reasons() []reason {
	return []reason{
		{
			"compaction",
			func(a *agentActivity) bool { return !a.compacting.IsZero() },
			func(a *agentActivity, now time.Time) string {
				return "compacts the conversation, for " + ago(a.compacting, now)
			},
		},
		{
			"retry",
			func(a *agentActivity) bool { return a.retry != "" },
			func(a *agentActivity, now time.Time) string {
				return fmt.Sprintf("waits to call the model again. %s ago: %s", ago(a.retryAt, now), kinds.Code(a.retry, whyTitleRunes))
			},
		},
		{
			"the model's first byte",
			func(a *agentActivity) bool { return !a.asked.IsZero() && a.last.Before(a.asked) },
			func(a *agentActivity, now time.Time) string {
				return fmt.Sprintf("waits for the model %s: it was called %s ago, and nothing of its answer has come", code(a.model), ago(a.asked, now))
			},
		},
		{
			"the model's next byte",
			func(a *agentActivity) bool { return !a.asked.IsZero() },
			func(a *agentActivity, now time.Time) string {
				return fmt.Sprintf("waits for the model %s, which is answering: it was called %s ago, and the last of its answer came %s ago",
					code(a.model), ago(a.asked, now), ago(a.last, now))
			},
		},
		{
			"preparation",
			func(a *agentActivity) bool { return a.preparing != "" },
			func(a *agentActivity, now time.Time) string {
				return fmt.Sprintf("waits for %s, for %s", a.preparing, ago(a.preparingSince, now))
			},
		},
		{
			"calls",
			func(a *agentActivity) bool { return a.blockingCalls() > 0 },
			func(a *agentActivity, _ time.Time) string {
				return "waits for " + kinds.Count(a.blockingCalls(), "tool call")
			},
		},
		{
			"between steps",
			func(a *agentActivity) bool { return a.turn },
			func(*agentActivity, time.Time) string { return "is between two steps, and waits for nothing" },
		},
	}
}

// blockingCalls counts the calls that the turn waits for.
func (a *agentActivity) blockingCalls() (n int) {
	for _, c := range a.calls {
		if !c.inBackground() {
			n++
		}
	}
	return n
}

// inBackground reports whether the subagent of the call runs in the background.
func (c *callActivity) inBackground() bool { return c.child != nil && c.child.Brief().Background }

// callReason is one thing that a tool call can wait for.
type callReason struct {
	name string
	is   func(c *callActivity) bool
	says func(c *callActivity, now time.Time) string
}

// callReasons are what a call can wait for; the first that holds counts.
func callReasons() []callReason {
	return []callReason{
		{
			"permission",
			func(c *callActivity) bool { return c.state == transcript.BlockedOnUser },
			func(c *callActivity, now time.Time) string {
				text := "waits for your permission, for " + ago(c.since, now)
				if c.reason != "" {
					text += ", because " + kinds.Code(c.reason, whyTitleRunes)
				}
				return text
			},
		},
		{
			"question",
			func(c *callActivity) bool { return c.state == transcript.InProgress && c.tool == questionTool },
			func(c *callActivity, now time.Time) string {
				return "waits for your answer to its questions, for " + ago(c.since, now)
			},
		},
		{
			"a slot for the subagent",
			func(c *callActivity) bool {
				return c.child != nil && c.child.Brief().State == transcript.ChildQueued
			},
			func(c *callActivity, now time.Time) string {
				return "waits until another subagent has ended, for " + ago(c.since, now)
			},
		},
		{
			"subagent",
			func(c *callActivity) bool { return c.child != nil },
			func(c *callActivity, now time.Time) string {
				record := c.child.Brief()
				text := fmt.Sprintf("waits for the subagent %s, for %s", taskName(record), record.Elapsed(now).Truncate(time.Second))
				if record.Background {
					return strings.Replace(text, "waits for", "goes on in the background with", 1)
				}
				return text
			},
		},
		{
			"process",
			func(c *callActivity) bool { return c.state == transcript.InProgress && c.card.Kind == kinds.Execute },
			sayProcess,
		},
		{
			"server",
			func(c *callActivity) bool { return c.state == transcript.InProgress && mcp.IsTool(c.tool) },
			func(c *callActivity, now time.Time) string {
				return "waits for its MCP server, for " + ago(c.since, now)
			},
		},
		{
			"tool",
			func(c *callActivity) bool { return c.state == transcript.InProgress },
			func(c *callActivity, now time.Time) string { return "runs, for " + ago(c.since, now) },
		},
		{
			"its turn",
			func(*callActivity) bool { return true },
			func(c *callActivity, now time.Time) string {
				return "waits for the calls before it, for " + ago(c.since, now)
			},
		},
	}
}

// sayProcess says how long a process runs and what it printed last.
func sayProcess(c *callActivity, now time.Time) string {
	text := "its process runs, for " + ago(c.since, now)
	switch {
	case c.terminal:
		return text + "; its terminal shows what it prints"
	case c.outputAt.IsZero():
		return text + "; it has printed nothing"
	}
	return fmt.Sprintf("%s; it last printed something %s ago: %s", text, ago(c.outputAt, now), kinds.Code(strings.TrimSpace(c.output), whyOutputRunes))
}

// ago is how long something has lasted, in whole seconds.
func ago(since, now time.Time) string { return max(0, now.Sub(since)).Truncate(time.Second).String() }

// text lists what the agents wait for; it is "" when no agent is working. busy says that a turn of the
// main agent runs that is not the answer to a command.
func (a *activity) text(busy bool) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	main := a.main
	main.turn = main.turn && busy
	var b strings.Builder
	main.write(&b, "The agent", "", a.now())
	return b.String()
}

// write writes what an agent waits for, and indented what each of its calls does.
func (a *agentActivity) write(b *strings.Builder, name, indent string, now time.Time) {
	for _, r := range reasons() {
		if r.is(a) {
			fmt.Fprintf(b, "%s- %s %s.\n", indent, name, r.says(a, now))
			break
		}
	}
	for _, c := range a.calls {
		if !a.asked.IsZero() && !c.inBackground() {
			continue // the model is still writing its arguments
		}
		for _, r := range callReasons() {
			if r.is(c) {
				fmt.Fprintf(b, "%s  - %s: %s.\n", indent, kinds.Code(c.card.Title, whyTitleRunes), r.says(c, now))
				break
			}
		}
		if c.child != nil {
			c.doing.write(b, "The subagent", indent+"    ", now)
		}
	}
}

// whyText is /why: what the session waits for now. It asks nothing and waits for nothing.
func whyText(turns *turnQueue, c *conversation, servers []mcp.Status, queue string) string {
	busy, waiting := turns.workload()
	text := c.activity.text(busy)
	var b strings.Builder
	switch {
	case busy && text == "":
		b.WriteString("- The agent is at the beginning or the end of a turn, and waits for nothing.\n")
	case !busy && c.awaitsAnswer():
		b.WriteString("- The agent waits for your answer to its questions in the chat.\n")
	case !busy:
		b.WriteString("- The agent waits for nothing but your next message.\n")
	}
	b.WriteString(text)
	for _, server := range servers {
		if server.State == mcp.Connecting {
			fmt.Fprintf(&b, "- The MCP server %s has not answered yet.\n", code(server.Name))
		}
	}
	if waiting > 0 {
		until := "after this turn"
		if queue == queueSteer {
			until = "until the tools that run have ended"
		}
		fmt.Fprintf(&b, "- Queued %s: %s of yours.\n", until, kinds.Count(waiting, "prompt"))
	}
	return "**What this session waits for**\n\n" + b.String()
}
