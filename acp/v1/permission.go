package v1

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// caller makes requests of the client.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// link is what the editor's parts of one session share.
type link struct {
	conn       caller
	translator *translator
	session    string // set before first use
}

// asker puts permission requests to the person, through session/request_permission.
type asker struct{ *link }

// The ids of the four standard options (R152); clients pick by kind.
const (
	optionAllow        = "allow"
	optionAllowAlways  = "allow_always"
	optionReject       = "reject"
	optionRejectAlways = "reject_always"

	// optionAllowProject is the one extra option after the four (R152).
	optionAllowProject = "allow_project"
)

// Ask implements tools.Asker. When ctx ends, the client is told with
// $/cancel_request and nothing it answers later counts.
func (a *asker) Ask(ctx context.Context, req tools.PermissionRequest) (tools.Answer, error) {
	options := optionsOf(req, a.translator.client.optionNames)
	var response schema.RequestPermissionResponse
	err := a.ask(ctx, question{
		callID: req.CallID, method: schema.MethodSessionRequestPermission, says: "asks for permission: " + span(req.Ready.Card.Title),
		params: func() any {
			return &schema.RequestPermissionRequest{
				SessionID: schema.SessionId(a.session), ToolCall: a.translator.request(req), Options: options,
			}
		},
	}, &response)
	if err != nil {
		return tools.RejectOnce, err
	}
	return answerOf(response.Outcome, options), nil
}

// rememberRunes bounds what an option says of the rule that it would store.
const rememberRunes = 100

// optionsOf are the options of a request, one of each kind (R152). A client that shows the
// names of options can tell two of one kind apart, and is offered to keep the rule for the
// project as well.
func optionsOf(req tools.PermissionRequest, names bool) []schema.PermissionOption {
	if c := req.Choices; c != nil {
		return []schema.PermissionOption{
			{OptionID: optionAllow, Name: kinds.Line(c.Allow, rememberRunes), Kind: schema.PermissionOptionKindAllowOnce},
			{OptionID: optionReject, Name: kinds.Line(c.Reject, rememberRunes), Kind: schema.PermissionOptionKindRejectOnce},
		}
	}
	options := permissionOptions(req.Remember, req.Agents)
	if names && req.Project && req.Remember != "" {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowProject, Name: "Allow for " + inProject(req.Agents) + ": " + kinds.Line(req.Remember, rememberRunes),
			Kind: schema.PermissionOptionKindAllowAlways,
		})
	}
	return options
}

// permissionOptions are the four of every request, less "always" where nothing may be
// stored. agents are the names of the subagent that asks.
func permissionOptions(remember string, agents []string) []schema.PermissionOption {
	options := []schema.PermissionOption{{OptionID: optionAllow, Name: "Allow once", Kind: schema.PermissionOptionKindAllowOnce}}
	if remember != "" {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowAlways, Name: "Allow " + inSession(agents, "this") + ": " + kinds.Line(remember, rememberRunes),
			Kind: schema.PermissionOptionKindAllowAlways,
		})
	}
	return append(options,
		schema.PermissionOption{OptionID: optionReject, Name: "Reject", Kind: schema.PermissionOptionKindRejectOnce},
		schema.PermissionOption{OptionID: optionRejectAlways, Name: "Reject this " + inSession(agents, "the"), Kind: schema.PermissionOptionKindRejectAlways},
	)
}

// inSession says whom an answer for the session is for, which of a subagent is that one
// (R73).
func inSession(agents []string, article string) string {
	if len(agents) == 0 {
		return "for " + article + " session"
	}
	return "for " + kinds.Line(agents[len(agents)-1], nameRunes) + " in " + article + " session"
}

// inProject says whom an answer that is kept for the project is for: of a subagent not that
// one alone.
func inProject(agents []string) string {
	if len(agents) == 0 {
		return "this project"
	}
	return "all agents in this project"
}

// answerOf reads the outcome. Whatever is not one of the options that were
// offered is no approval.
func answerOf(outcome schema.RequestPermissionOutcome, offered []schema.PermissionOption) tools.Answer {
	selected, ok := outcome.(schema.SelectedPermissionOutcome)
	if !ok {
		if _, cancelled := outcome.(schema.CancelledPermissionOutcome); cancelled {
			return tools.Cancelled
		}
		return tools.RejectOnce
	}
	if !slices.ContainsFunc(offered, func(o schema.PermissionOption) bool { return o.OptionID == selected.OptionID }) {
		return tools.RejectOnce
	}
	switch selected.OptionID {
	case optionAllow:
		return tools.AllowOnce
	case optionAllowAlways:
		return tools.AllowAlways
	case optionAllowProject:
		return tools.AllowProject
	case optionRejectAlways:
		return tools.RejectAlways
	}
	return tools.RejectOnce
}

// request makes the call of a permission request, and notes that a client may show it from
// now on. What led to the question is on the screen before it.
func (t *translator) request(req tools.PermissionRequest) schema.ToolCallUpdate {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushAll()
	t.propose(req)
	view := t.calls[req.CallID]
	if view == nil {
		view = &callView{}
	}
	c := view.question(req)
	c.title, c.locations = t.client.title(c.kind, breadcrumb(req.Agents)+c.title, "", true), t.client.shownLocations(c.kind, c.locations)
	view.request(c, req.Ready.Card.Content)
	return c.update(req.CallID, req.Name)
}

// question shows the call whole: the full command or the diff, what it touches, who asks
// and why (O1). The terminal that shows the call stays in its card, and comes first; else
// what the tool shows does, for there are clients that look for a diff at the first entry.
func (v *callView) question(req tools.PermissionRequest) change {
	card := req.Ready.Card
	if req.Choices != nil {
		card.Title = req.Choices.Question
	}
	c := change{
		status: pending, title: card.Title, kind: card.Kind, locations: card.Locations, input: rawJSON(req.Ready.Args), meta: v.meta(nil),
	}
	if v.pane != plainPane {
		c.content = append(c.content, kinds.Terminal{ID: v.terminal})
	}
	c.content = append(append(c.content, card.Content...), kinds.Text{Text: explanation(req)})
	return c
}

func explanation(req tools.PermissionRequest) string {
	var b strings.Builder
	var args, asked struct{ Cmd, Cwd string }
	if req.Ready.Card.Kind == kinds.Execute && json.Unmarshal(req.Ready.Args, &args) == nil && args.Cmd != "" {
		b.WriteString(kinds.Fence("sh", kinds.Visible(args.Cmd)))
		if args.Cwd != "" {
			fmt.Fprintf(&b, "\n\nin %s", span(args.Cwd))
		}
		if json.Unmarshal([]byte(req.Ready.Input), &asked) == nil && asked.Cmd != "" && asked.Cmd != args.Cmd {
			fmt.Fprintf(&b, ", written as %s", span(asked.Cmd))
		}
		b.WriteString("\n\n")
	}
	for _, location := range req.Ready.Card.Locations {
		fmt.Fprintf(&b, "%s\n\n", span(location.Path))
	}
	if len(req.Agents) > 0 {
		fmt.Fprintf(&b, "Asked by: %s\n\n", kinds.Code(pathOf(req.Agents), namesRunes))
	}
	if req.Reason != "" {
		fmt.Fprintf(&b, "Asked because: %s\n\n", span(req.Reason))
	}
	if req.Sandbox != "" {
		fmt.Fprintf(&b, "Sandbox: %s\n\n", kinds.Line(req.Sandbox, spanLimit))
	}
	switch {
	case len(req.Remember) > rememberRunes: // the option cannot say all of it
		fmt.Fprintf(&b, "“Always” would allow, %s: %s", inSession(req.Agents, "this"), span(req.Remember))
	case req.Remember == "" && req.NoAlways != "":
		fmt.Fprintf(&b, "“Always” is not offered: %s", span(req.NoAlways))
	}
	return strings.TrimSpace(b.String())
}

// spanLimit bounds what stands in one line of a card.
const spanLimit = 1000

// span makes one line of code of a text that the model chose, so that it cannot
// pose as something that the agent says.
func span(text string) string { return kinds.Code(text, spanLimit) }
