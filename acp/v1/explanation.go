package v1

import (
	"encoding/json"
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// explanation is the text of a permission request: what runs and where, who asks and why, what confines it, and what
// an answer brings about.
func explanation(req tools.PermissionRequest) string {
	if len(req.With) > 0 {
		return sharedCardExplanation(req)
	}
	text := commandText(req)
	for _, location := range req.Ready.Card.Locations {
		text += span(location.Path) + "\n\n"
	}
	text += agentsText(req) + reasonText(req) + sandboxText(req)
	switch {
	case len(req.Remember) > rememberRunes: // the option cannot say all of it
		text += alwaysText(req)
	case req.Remember == "":
		text += noAlwaysText(req.NoAlways)
	}
	return strings.TrimSpace(text)
}

// commandText is the whole command with its directory; it is "" for other calls.
func commandText(req tools.PermissionRequest) string {
	var args, asked struct{ Cmd, Cwd string }
	if req.Ready.Card.Kind != kinds.Execute || json.Unmarshal(req.Ready.Args, &args) != nil || args.Cmd == "" {
		return ""
	}
	text := kinds.Fence("sh", kinds.Visible(args.Cmd))
	if args.Cwd != "" {
		text += "\n\nin " + span(args.Cwd)
	}
	if json.Unmarshal([]byte(req.Ready.Input), &asked) == nil && asked.Cmd != "" && asked.Cmd != args.Cmd {
		text += ", written as " + span(asked.Cmd)
	}
	return text + "\n\n"
}

func agentsText(req tools.PermissionRequest) string {
	if len(req.Agents) == 0 {
		return ""
	}
	return "Asked by: " + kinds.Code(pathOf(req.Agents), namesRunes) + "\n\n"
}

func reasonText(req tools.PermissionRequest) string {
	if req.Reason == "" {
		return ""
	}
	return "Asked because: " + span(req.Reason) + "\n\n"
}

func sandboxText(req tools.PermissionRequest) string {
	if req.Sandbox == "" {
		return ""
	}
	return "Sandbox: " + kinds.Line(req.Sandbox, spanLimit) + "\n\n"
}

func alwaysText(req tools.PermissionRequest) string {
	return "“Always” would allow, " + inSession(req.Agents, "this") + ": " + span(req.Remember) + "\n\n"
}

func noAlwaysText(why string) string {
	if why == "" {
		return ""
	}
	return "“Always” is not offered: " + span(why)
}

// spanLimit bounds what stands in one line of a card.
const spanLimit = 1000

// span turns a text of the model into one line of code, so that it cannot pass for words of
// the agent.
func span(text string) string { return kinds.Code(text, spanLimit) }
