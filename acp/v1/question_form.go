package v1

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// Bounds of the texts of a form, in characters.
const (
	titleRunes = 200
	proseRunes = 2000
)

// form asks through elicitation/create in form mode, one field for each question.
func (q *questioner) form(ctx context.Context, callID string, questions []tools.Question) ([][]string, error) {
	params := &schema.CreateElicitationRequest{
		Mode: schema.ElicitationModeForm, Message: formMessage(questions), RequestedSchema: formSchema(questions),
		SessionID: schema.SessionId(q.session), ToolCallID: schema.ToolCallId(callID),
	}
	var response schema.CreateElicitationResponse
	asked := question{callID: callID, method: schema.MethodElicitationCreate, announcement: asksQuestion, params: func() any { return params }}
	if err := q.ask(ctx, asked, &response); err != nil {
		return nil, callFailure(ctx, err)
	}
	if response.Action != schema.ElicitationActionAccept {
		return nil, declined()
	}
	answers := make([][]string, len(questions))
	for i, question := range questions {
		value, ok := response.Content[fieldName(i)]
		switch {
		case !ok && question.MultiSelect:
			answers[i] = []string{} // clients leave out an empty list
			continue
		case !ok:
			return nil, badAnswer(i+1, "is missing")
		}
		chosen, problem := answersOf(question, value.Value)
		if problem != "" {
			return nil, badAnswer(i+1, problem)
		}
		answers[i] = chosen
	}
	return answers, nil
}

// asksQuestion follows the name of a subagent in the chat.
const asksQuestion = "asks you a question."

// fieldName names the field of a question. The names sort in the order of the questions, for
// clients that sort fields by name.
func fieldName(i int) string { return fmt.Sprintf("question_%02d", i+1) }

func formMessage(questions []tools.Question) string {
	if len(questions) == 1 {
		return prose(questions[0].Question)
	}
	return fmt.Sprintf("The agent has %d questions.", len(questions))
}

func formSchema(questions []tools.Question) *schema.ElicitationSchema {
	form := &schema.ElicitationSchema{Properties: map[string]schema.ElicitationPropertySchema{}}
	for i, question := range questions {
		title, description := question.Header, ""
		switch {
		case title == "":
			title = question.Question
		case len(questions) > 1: // a single question is the message already
			description = prose(question.Question)
		}
		form.Properties[fieldName(i)] = formField(question, kinds.Line(title, titleRunes), description)
		form.Required = append(form.Required, fieldName(i))
	}
	return form
}

func formField(question tools.Question, title, description string) schema.ElicitationPropertySchema {
	switch {
	case len(question.Options) == 0:
		noted := strings.TrimSpace(description + "\n\n" + secretNotice)
		return schema.StringPropertySchema{Title: title, Description: noted, MinLength: pointer(uint32(1))}
	case question.MultiSelect:
		return schema.MultiSelectPropertySchema{Title: title, Description: description, Items: multiItems(question.Options)}
	}
	return schema.StringPropertySchema{Title: title, Description: description, OneOf: enumOptions(question.Options)}
}

// multiItems lists plain labels in the form that every client supports; labels with
// descriptions need the other form.
func multiItems(options []tools.QuestionOption) schema.MultiSelectItems {
	if slices.ContainsFunc(options, func(o tools.QuestionOption) bool { return o.Description != "" }) {
		return schema.TitledMultiSelectItems{AnyOf: enumOptions(options)}
	}
	var items schema.StringMultiSelectItems
	for _, option := range options {
		items.Enum = append(items.Enum, option.Label)
	}
	return items
}

func enumOptions(options []tools.QuestionOption) []schema.EnumOption {
	list := make([]schema.EnumOption, len(options))
	for i, option := range options {
		list[i] = schema.EnumOption{
			Const: option.Label, Title: kinds.Line(option.Label, titleRunes), Description: prose(option.Description),
		}
	}
	return list
}

// prose is a bounded text of the model in which every character can be seen.
func prose(text string) string {
	return shorten(kinds.Visible(strings.TrimSpace(text)), proseRunes)
}

// answersOf reads the value of one field. A client may ignore the form, so only labels that
// were offered are answers.
func answersOf(question tools.Question, value any) (chosen []string, problem string) {
	offered := func(label string) bool {
		return slices.ContainsFunc(question.Options, func(o tools.QuestionOption) bool { return o.Label == label })
	}
	if !question.MultiSelect {
		answer, ok := value.(string)
		switch {
		case !ok:
			return nil, "is not a text"
		case len(question.Options) > 0 && !offered(answer):
			return nil, "is none of the options"
		case strings.TrimSpace(answer) == "":
			return nil, "is empty"
		}
		return []string{answer}, ""
	}
	answers, ok := value.([]string)
	if !ok {
		return nil, "is not a list"
	}
	chosen = []string{} // an empty choice is an answer
	for _, answer := range answers {
		if !offered(answer) {
			return nil, "is none of the options"
		}
		if !slices.Contains(chosen, answer) {
			chosen = append(chosen, answer)
		}
	}
	return chosen, ""
}
