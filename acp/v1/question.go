package v1

import (
	"context"
	"errors"

	"acp-agent/acp/rpc"
	"acp-agent/tools"
)

// questioner puts the model's questions to the person (R77): as a form where the
// client shows forms, as a choice of two where it does not.
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
	q.translator.flush() // what led to the question is on the screen before it
	switch {
	case q.forms:
		return q.form(ctx, callID, questions)
	case isChoice(questions):
		return q.choice(ctx, callID, questions[0])
	}
	return nil, cannotAsk(nil)
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
