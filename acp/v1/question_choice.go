package v1

import (
	"context"
	"strings"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// The ids of the options of a question. Clients show options by their kind, so
// there is room for two labels, and no more (R77).
const (
	optionFirst   = "first"
	optionSecond  = "second"
	optionDismiss = "dismiss"
)

// isChoice reports whether a permission request can carry the questions.
func isChoice(questions []tools.Question) bool {
	if len(questions) != 1 || questions[0].MultiSelect {
		return false
	}
	n := len(questions[0].Options)
	return n == 1 || n == 2
}

// choice asks through session/request_permission.
func (q *questioner) choice(ctx context.Context, callID string, question tools.Question) ([][]string, error) {
	params := &schema.RequestPermissionRequest{
		SessionID: schema.SessionId(q.session), ToolCall: q.translator.choice(callID, question), Options: choiceOptions(question),
	}
	var response schema.RequestPermissionResponse
	if err := q.conn.Call(ctx, schema.MethodSessionRequestPermission, params, &response); err != nil {
		return nil, callFailure(ctx, err)
	}
	selected, ok := response.Outcome.(schema.SelectedPermissionOutcome)
	switch {
	case ok && selected.OptionID == optionFirst:
		return [][]string{{question.Options[0].Label}}, nil
	case ok && selected.OptionID == optionSecond && len(question.Options) == 2:
		return [][]string{{question.Options[1].Label}}, nil
	}
	return nil, declined()
}

func choiceOptions(question tools.Question) []schema.PermissionOption {
	name := func(i int) string { return kinds.Line(question.Options[i].Label, titleRunes) }
	second := schema.PermissionOption{OptionID: optionDismiss, Name: "Dismiss", Kind: schema.PermissionOptionKindRejectOnce}
	if len(question.Options) == 2 {
		second.OptionID, second.Name = optionSecond, name(1)
	}
	return []schema.PermissionOption{
		{OptionID: optionFirst, Name: name(0), Kind: schema.PermissionOptionKindAllowOnce},
		second,
	}
}

// choice is the call of the question as the request shows it.
func (t *translator) choice(callID string, question tools.Question) schema.ToolCallUpdate {
	var b strings.Builder
	b.WriteString(prose(question.Question))
	for _, option := range question.Options {
		if option.Description != "" {
			b.WriteString("\n\n" + span(option.Label) + ": " + prose(option.Description))
		}
	}
	c := change{
		status: inProgress, kind: kinds.Of("question"), title: kinds.Line(question.Question, titleRunes),
		content: []kinds.Content{kinds.Text{Text: b.String()}},
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if view := t.calls[callID]; view != nil {
		view.request(c, nil)
	}
	return c.update(callID, "question")
}
