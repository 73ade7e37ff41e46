package v1

import (
	"context"
	"errors"

	"acp-agent/acp/rpc"
	"acp-agent/tools"
)

// questioner puts the model's questions to the user (R77): as a form where the client
// shows forms, in the chat where it does not.
type questioner struct {
	*link
	forms bool // the client advertised elicitation.form
}

var _ tools.Questioner = (*questioner)(nil)

// Answers implements tools.Questioner. When ctx ends, the client is told with
// $/cancel_request and nothing it answers later counts.
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
	q.translator.say(inChat(questions))
	return nil, tools.ErrInChat
}

// onlyReported is the refusal of a subagent's questions in a client without forms: what the
// user writes in the chat is for the main agent.
func onlyReported() error {
	return &tools.Error{
		Kind: tools.Unavailable, Message: "question is unavailable: the user cannot answer a subagent in this editor",
		Hint: "Continue with your best judgement and state your assumptions, or end and return the question in your report: " +
			"the agent that started you can ask the user.",
	}
}

// callFailure is the error of a request that brought no answer.
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

// cannotAsk is the refusal where there is a person but no way to put the
// question (R77).
func cannotAsk(err error) error {
	return &tools.Error{
		Kind: tools.Unavailable, Message: "question is unavailable: this editor cannot show the question. " +
			"Ask in chat instead, or continue with your best judgement and state your assumptions.",
		Err: err,
	}
}

// declined is the error of a question that the person put away. It is no answer,
// and no empty one either.
func declined() error {
	return &tools.Error{
		Kind: tools.Denied, DeniedBy: tools.DeniedByUser, Message: "the person declined to answer",
		Hint: "Do not ask the same again. Continue without the answer, or ask in chat what they would rather do.",
	}
}

// badAnswer is the error of an answer that does not fit its question.
func badAnswer(number int, problem string) error {
	return tools.Errorf(tools.Backend, "question: the editor's answer to question %d %s", number, problem)
}
