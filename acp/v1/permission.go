package v1

import (
	"context"
	"slices"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// caller makes requests of the client.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// link connects what the editor does for one session: files, terminals and questions.
type link struct {
	conn       caller
	translator *translator
	session    string // set before first use
}

// asker asks the user for permission, through session/request_permission.
type asker struct{ *link }

// The ids of the four standard options (R152); clients pick by kind.
const (
	optionAllow        = "allow"
	optionAllowAlways  = "allow_always"
	optionReject       = "reject"
	optionRejectAlways = "reject_always"

	// optionAllowProject is the one extra option after the four (R152).
	optionAllowProject = "allow_project"

	// optionAllowOutside is offered on a card that is about the sandbox.
	optionAllowOutside = "allow_outside"
)

// Ask implements tools.Asker. When ctx ends, $/cancel_request notifies the client, and a later
// answer has no effect.
func (a *asker) Ask(ctx context.Context, req tools.PermissionRequest) (tools.Answer, error) {
	options := a.translator.out.client.options(req)
	title := req.Ready.Card.Title
	if len(req.With) > 0 {
		title = sharedCardTitle(req)
	}
	var response schema.RequestPermissionResponse
	err := a.ask(ctx, question{
		callID: req.CallID, method: schema.MethodSessionRequestPermission, announcement: "asks for permission: " + span(title),
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

// rememberRunes bounds the rule in the name of an option that stores it.
const rememberRunes = 100

// options are the options of a request, one of each kind (R152). A client that shows the
// names of options can tell two of one kind apart; it gets one more, which stores the rule for
// the project, and one that lets a command run outside of the sandbox.
func (t traits) options(req tools.PermissionRequest) []schema.PermissionOption {
	if len(req.With) > 0 {
		return t.sharedCardOptions(req)
	}
	if choices := req.Choices; choices != nil {
		return []schema.PermissionOption{
			{OptionID: optionAllow, Name: kinds.Line(choices.Allow, rememberRunes), Kind: schema.PermissionOptionKindAllowOnce},
			{OptionID: optionReject, Name: kinds.Line(choices.Reject, rememberRunes), Kind: schema.PermissionOptionKindRejectOnce},
		}
	}
	options := permissionOptions(req.Remember, req.Agents)
	if t.optionNames && req.Project && req.Remember != "" {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowProject, Name: "Allow for " + inProject(req.Agents) + ": " + kinds.Line(req.Remember, rememberRunes),
			Kind: schema.PermissionOptionKindAllowAlways,
		})
	}
	if t.optionNames && req.Outside {
		options = append(options, schema.PermissionOption{
			OptionID: optionAllowOutside, Name: "Allow once, outside the sandbox", Kind: schema.PermissionOptionKindAllowOnce,
		})
	}
	return options
}

// permissionOptions are the four options of every request, without "always" if no rule may be
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

// inSession says for whom an answer for the session holds: for the session, or for the
// subagent that asked (R73).
func inSession(agents []string, article string) string {
	if len(agents) == 0 {
		return "for " + article + " session"
	}
	return "for " + kinds.Line(agents[len(agents)-1], nameRunes) + " in " + article + " session"
}

// inProject says for whom an answer for the project holds: for all agents, even if a subagent
// asked.
func inProject(agents []string) string {
	if len(agents) == 0 {
		return "this project"
	}
	return "all agents in this project"
}

// answerOf reads the outcome. Anything other than one of the offered options is a rejection.
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
	case optionAllowOutside:
		return tools.AllowOutside
	case optionRejectAlways:
		return tools.RejectAlways
	case optionOneByOne:
		return tools.OneByOne
	}
	return tools.RejectOnce
}

// request makes the call of a permission request, and notes that a client may show it from now
// on. It first sends what led to the question.
func (t *translator) request(req tools.PermissionRequest) schema.ToolCallUpdate {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushAll()
	t.propose(req)
	view := t.cards.calls[req.CallID]
	if view == nil {
		view = &callView{}
	}
	c := view.question(req)
	client := t.out.client
	c.title, c.locations = client.title(c.kind, breadcrumb(req.Agents)+c.title, "", true), client.shownLocations(c.kind, c.locations)
	view.noteRequest(c, req.Ready.Card.Content)
	view.requests.input = nil
	if len(req.With) > 0 {
		view.requests.input = rawJSON(req.Ready.Args)
	}
	return c.update(req.CallID, req.Name)
}

// question shows the whole call: the full command or the diff, what it touches, who asks and
// why. The terminal that shows the call stays in the card and stands first; otherwise the
// content of the tool does, because some clients look for a diff in the first entry only.
func (v *callView) question(req tools.PermissionRequest) change {
	card := req.Ready.Card
	switch {
	case req.Choices != nil:
		card.Title = req.Choices.Question
	case len(req.With) > 0:
		card.Title = sharedCardTitle(req)
	}
	c := change{
		status: pending, title: card.Title, kind: card.Kind, locations: card.Locations, input: rawJSON(req.Ready.Args), meta: v.meta(nil),
	}
	if len(req.With) > 0 {
		c.input = sharedCardInput(req)
	}
	if v.pane != plainPane {
		c.content = append(c.content, kinds.Terminal{ID: v.terminal})
	}
	c.content = append(append(c.content, card.Content...), kinds.Text{Text: explanation(req)})
	return c
}
