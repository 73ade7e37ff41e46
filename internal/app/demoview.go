package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/internal/textedit"
)

// demoView is the editor of the demo: it shows updates in a terminal and asks
// the user at the keyboard. It is the rpc.Handler of the client's end.
type demoView struct {
	out    io.Writer
	in     *typedLines
	yes    bool
	screen screen

	mu      sync.Mutex // guards what follows
	inText  bool
	thought bool
	calls   map[schema.ToolCallId]schema.ToolCall
	diffed  map[schema.ToolCallId]bool
	margin  string // of the call that is shown: calls of subagents stand below and within
}

func newDemoView(out io.Writer, in io.Reader, yes bool) *demoView {
	return &demoView{
		out: out, in: &typedLines{in: in}, yes: yes, screen: screenOf(out),
		calls: map[schema.ToolCallId]schema.ToolCall{}, diffed: map[schema.ToolCallId]bool{},
	}
}

// Request answers the agent's requests (see rpc.Handler).
func (v *demoView) Request(req *rpc.Request) rpc.Body {
	if req.Method != schema.MethodSessionRequestPermission {
		return nil
	}
	var params schema.RequestPermissionRequest
	if err := schema.Decode(req.Params, &params); err != nil {
		return func(context.Context) rpc.Reply {
			return rpc.Reply{Err: rpc.Errorf(rpc.CodeInvalidParams, "%s", err)}
		}
	}
	return func(ctx context.Context) rpc.Reply {
		return rpc.Reply{Result: &schema.RequestPermissionResponse{Outcome: v.ask(ctx, params)}}
	}
}

// Notify shows the agent's updates (see rpc.Handler).
func (v *demoView) Notify(method string, params json.RawMessage) {
	var note schema.SessionNotification
	if method != schema.MethodSessionUpdate || schema.Decode(params, &note) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch update := note.Update.(type) {
	case schema.AgentMessageChunk:
		v.text(update.Content, false)
	case schema.AgentThoughtChunk:
		v.text(update.Content, true)
	case schema.ToolCall:
		v.calls[update.ToolCallID] = update
	case schema.SessionToolCallUpdate:
		v.update(update.ToolCallUpdate)
	}
}

// The styles of the demo, as SGR parameters.
const (
	styleBold   = "1"
	styleDim    = "2"
	styleRed    = "31"
	styleGreen  = "32"
	styleYellow = "33"
	styleCyan   = "36"
)

func (v *demoView) heading(project string) {
	fmt.Fprintf(v.out, "%s  scripted model, scratch project %s\n\n", v.screen.style(styleBold, "acp-agent demo"), project)
}

func (v *demoView) prompt(text string) {
	fmt.Fprintf(v.out, "%s %s\n\n", v.screen.style(styleCyan, "you ›"), v.screen.style(styleBold, text))
}

func (v *demoView) end(stop string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endText()
	fmt.Fprintf(v.out, "%s\n", v.screen.style(styleDim, "turn ended: "+stop))
}

func (v *demoView) text(content schema.ContentBlock, thought bool) {
	block, ok := content.(schema.TextContent)
	if !ok {
		return
	}
	if v.inText && v.thought != thought {
		v.endText()
	}
	if !v.inText && thought {
		fmt.Fprint(v.out, v.screen.style(styleDim, "thinking: "))
	}
	v.inText, v.thought = true, thought
	if thought {
		fmt.Fprint(v.out, v.screen.style(styleDim, block.Text))
		return
	}
	fmt.Fprint(v.out, block.Text)
}

func (v *demoView) endText() {
	if v.inText {
		fmt.Fprint(v.out, "\n\n")
		v.inText = false
	}
}

// update shows how a call proceeds: its title when it starts, a diff once, output as it comes.
func (v *demoView) update(u schema.ToolCallUpdate) {
	call := v.calls[u.ToolCallID]
	if u.Title != nil {
		call.Title = *u.Title
	}
	v.calls[u.ToolCallID] = call
	v.margin = v.marginOf(u.ToolCallID)
	switch u.Status {
	case schema.ToolCallStatusInProgress:
		v.endText()
		v.line("%s %s", v.screen.style(styleYellow, "●"), v.screen.style(styleBold, v.label(call)))
	case schema.ToolCallStatusFailed:
		v.endText()
		v.line("%s %s", v.screen.style(styleRed, "✗"), v.label(call))
	}
	v.output(u)
	if u.Status == schema.ToolCallStatusCompleted {
		v.content(u)
		done := "done"
		if v.margin != "" {
			done = v.label(call) // several calls run at once, so the line names its own
		}
		v.line("%s\n", v.screen.style(styleGreen, "✓ "+done))
	}
	if u.Status == schema.ToolCallStatusFailed {
		v.content(u)
		fmt.Fprintln(v.out)
	}
}

// line writes one line of the call that is shown.
func (v *demoView) line(format string, args ...any) {
	fmt.Fprintf(v.out, v.margin+format+"\n", args...)
}

// marginStep is how far the calls of a subagent stand within the one that spawned it.
const marginStep = "  "

func (v *demoView) marginOf(id schema.ToolCallId) string {
	depth := 0
	for parent := parentCall(v.calls[id]); parent != "" && depth < len(v.calls); parent = parentCall(v.calls[parent]) {
		depth++
	}
	return strings.Repeat(marginStep, depth)
}

// parentCall is the call that spawned the subagent whose call this is; empty for one of
// the main agent.
func parentCall(call schema.ToolCall) schema.ToolCallId {
	link, _ := call.Meta["claudeCode"].(map[string]any)
	id, _ := link["parentToolUseId"].(string)
	return schema.ToolCallId(id)
}

func (v *demoView) label(call schema.ToolCall) string {
	if call.Kind == schema.ToolKindExecute && parentCall(call) == "" {
		return "$ " + call.Title
	}
	return call.Title // that of a subagent's begins with its name
}

// output shows what a command printed since the last time.
func (v *demoView) output(u schema.ToolCallUpdate) {
	piece, _ := u.Meta["terminal_output"].(map[string]any)
	text, _ := piece["data"].(string)
	for line := range strings.Lines(text) {
		v.line("  %s", v.screen.style(styleDim, strings.TrimRight(line, "\r\n")))
	}
}

func (v *demoView) content(u schema.ToolCallUpdate) {
	for _, content := range u.Content {
		switch content := content.(type) {
		case schema.Diff:
			if !v.diffed[u.ToolCallID] {
				v.diff(content)
			}
		case schema.Content:
			if block, ok := content.Content.(schema.TextContent); ok {
				v.excerpt(block.Text)
			}
		}
	}
}

// excerptLines bounds what the demo shows of a result.
const excerptLines = 6

func (v *demoView) excerpt(text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if i == excerptLines {
			v.line("  %s", v.screen.style(styleDim, fmt.Sprintf("… %d more lines", len(lines)-i)))
			return
		}
		if !strings.HasPrefix(line, "```") {
			v.line("  %s", v.screen.style(styleDim, line))
		}
	}
}

// diff shows a change as a unified diff.
func (v *demoView) diff(d schema.Diff) {
	old := ""
	if d.OldText != nil {
		old = *d.OldText
	}
	for line := range strings.Lines(textedit.Unified(context.Background(), "", old, d.NewText)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "diff "):
			continue
		case strings.HasPrefix(line, "-"):
			line = v.screen.style(styleRed, line)
		case strings.HasPrefix(line, "+"):
			line = v.screen.style(styleGreen, line)
		case strings.HasPrefix(line, "@@"):
			line = v.screen.style(styleCyan, line)
		}
		v.line("  %s", line)
	}
}
