package v1

import (
	"context"
	"errors"

	"acp-agent/acp/rpc"
	"acp-agent/tools"
)

// questioner asks the user the model's questions (R77): in a form if the client shows forms,
// and otherwise in the chat.
type questioner struct {
	*link
	forms bool // the client advertised elicitation.form
}

var _ tools.Questioner = (*questioner)(nil)

// Answers implements tools.Questioner. When ctx ends, $/cancel_request notifies the client, and
// a later answer has no effect.
func (q *questioner) Answers(ctx context.Context, callID string, questions []tools.Question) ([][]string, error) {
	if secret := secretAsked(questions); secret != "" {
		return nil, secretRefused(secret)
	}
	switch {
	case q.forms:
		return q.form(ctx, callID, questions)
	case q.translator.parentOf(callID) != "":
		return nil, onlyReported()
	}
	return nil, &tools.InChat{Text: inChat(questions)}
}

// onlyReported refuses the questions of a subagent in a client without forms: what the user
// writes in the chat is for the main agent.
func onlyReported() error {
	return &tools.Error{
		Kind: tools.Unavailable, Message: "question is unavailable: the user cannot answer a subagent in this editor",
		Hint: "Continue with your best judgement and state your assumptions, or end and return the question in your report: " +
			"the agent that started you can ask the user.",
	}
}

// callFailure is the error of a request without an answer.
func callFailure(ctx context.Context, err error) error {
	var wire *rpc.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &wire) && wire.Code == rpc.CodeRequestCancelled:
		return declined()
	}
	return cannotAsk(err)
}

// cannotAsk is the error where there is a user but no way to show the question (R77).
func cannotAsk(err error) error {
	return &tools.Error{
		Kind: tools.Unavailable, Message: "question is unavailable: this editor cannot show the question. " +
			"Ask in chat instead, or continue with your best judgement and state your assumptions.",
		Err: err,
	}
}

// declined is the error of a question that the user dismissed, which is not even an empty
// answer.
func declined() error {
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser, Message: "the user declined to answer",
		Hint: "Do not ask the same again. Continue without the answer, or ask in chat what they would rather do.",
	}
}

// badAnswer is the error of an answer that does not fit its question.
func badAnswer(number int, problem string) error {
	return tools.Errorf(tools.Backend, "question: the editor's answer to question %d %s", number, problem)
}
