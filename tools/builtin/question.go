package builtin

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed question.md
var questionPrompt string

const (
	// maxQuestions bounds one call, maxOptions the choices of one question.
	maxQuestions = 10
	maxOptions   = 50
	// noQuestions is what a model reads where there is no one to answer (R76).
	noQuestions = "question is unavailable: this host has no user to answer. " +
		"Continue with your best judgement and state your assumptions."
)

type questionArgs struct {
	Questions []tools.Question `json:"questions"`
}

// questionData holds one list of answers for each question, in order (R74).
type questionData struct {
	Answers [][]string `json:"answers"`
}

// newQuestion is the tool that asks the user (R74-R78). It waits as long as it
// takes; a call has at most 10 questions.
func newQuestion() tools.Tool {
	option := object(text("label", ""), text("description?", ""))
	question := object(
		text("question", ""),
		text("header?", ""),
		several("options?", "Answers to choose from.", option),
		flag("multi_select?", "Several may be chosen."),
	)
	return tools.Define(tools.Spec{
		ID:          "question",
		Inward:      true,
		Description: prompt(questionPrompt),
		Kind:        kinds.Other,
		Label:       "Ask a question",
		Default:     capability.AllowAlways,
		Accepts:     questionAccepts(),
		Parameters:  object(several("questions", "What to ask.", question)),
		Lacks: func(s tools.Services) string {
			if s.Questions == nil {
				return "no user is there to answer"
			}
			return ""
		},
		Profile:        &tools.Profile{Serial: true},
		DisableTimeout: true,
	}, askPerson)
}

func askPerson(ctx context.Context, rt tools.Runtime, a questionArgs) (*tools.Result, error) {
	if len(a.Questions) == 0 || len(a.Questions) > maxQuestions {
		return nil, tools.Errorf(tools.BadInput, "question: questions must have 1 to %d entries, not %d", maxQuestions, len(a.Questions))
	}
	for i, q := range a.Questions {
		if err := checkQuestion(i+1, q); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	questions := rt.Services().Questions
	if questions == nil {
		return nil, tools.Errorf(tools.Unavailable, noQuestions)
	}
	answers, err := questions.Answers(ctx, rt.CallID(), a.Questions)
	if errors.Is(err, tools.ErrInChat) {
		return askedInChat(), nil
	}
	if err != nil {
		return nil, err
	}
	if len(answers) != len(a.Questions) {
		return nil, tools.Errorf(tools.Backend, "question: %d answers came for %d questions", len(answers), len(a.Questions))
	}
	for i, chosen := range answers {
		if chosen == nil {
			answers[i] = []string{} // an array on the wire, too
		}
	}
	return &tools.Result{Data: questionData{answers}, Content: answerCard(a.Questions, answers)}, nil
}

// answerCard is each question and its answer as the user sees them.
func answerCard(questions []tools.Question, answers [][]string) []kinds.Content {
	var b strings.Builder
	for i, q := range questions {
		b.WriteString(kinds.Visible(strings.TrimSpace(q.Question)) + "\n")
		for _, answer := range answers[i] {
			b.WriteString("→ " + kinds.Visible(answer) + "\n")
		}
		if len(answers[i]) == 0 {
			b.WriteString("→ (no answer)\n")
		}
		if i < len(questions)-1 {
			b.WriteString("\n")
		}
	}
	return textCard(b.String())
}

// inChat is the result of questions that were written into the chat (R77).
const inChat = "The questions are now in the chat, and this turn has ended. The user's next message answers them. " +
	"It may answer some of them only, or say something else; do not invent answers."

// askedInChat ends the turn, so that the model does not go on without the answers.
func askedInChat() *tools.Result {
	return &tools.Result{
		Data: inChat, EndsTurn: true,
		Content: []kinds.Content{kinds.Text{Text: "Asked in the chat. Your next message is the answer."}},
	}
}

// checkQuestion finds what would leave a user without a sensible choice.
func checkQuestion(number int, q tools.Question) error {
	switch {
	case strings.TrimSpace(q.Question) == "":
		return tools.Errorf(tools.BadInput, "question: question %d is empty", number)
	case q.MultiSelect && len(q.Options) == 0:
		return tools.Errorf(tools.BadInput, "question: question %d is multi_select but has no options", number)
	case len(q.Options) > maxOptions:
		return tools.Errorf(tools.BadInput, "question: question %d has %d options, the most is %d", number, len(q.Options), maxOptions)
	}
	labels := map[string]bool{}
	for _, option := range q.Options {
		label := strings.TrimSpace(option.Label)
		switch {
		case label == "":
			return tools.Errorf(tools.BadInput, "question: question %d has an option with an empty label", number)
		case labels[label]:
			return tools.Errorf(tools.BadInput, "question: question %d has the label %q twice", number, label)
		}
		labels[label] = true
	}
	return nil
}
