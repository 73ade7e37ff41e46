package tools

import (
	"context"
	"errors"
)

// ErrWithdrawn is the cause of the end of a question that was withdrawn without an answer, to be
// asked again.
var ErrWithdrawn = errors.New("the question was withdrawn, to be asked again")

// QuestionQueue orders the questions that the agents of a session have for the user. One is asked
// at a time, so that an answer may settle questions that wait (R123).
type QuestionQueue interface {
	// Enter waits until the question of a call may be asked. The context that it returns ends
	// with ctx, and with the cause ErrWithdrawn when the question has to make room: the caller
	// leaves and enters again, as AskInTurn does. The caller calls leave once, when the question
	// is answered or withdrawn.
	Enter(ctx context.Context, callID string) (asking context.Context, leave func(), err error)
}

// AskInTurn calls ask when it is the turn of the question of a call, and again when it failed
// because the question was withdrawn.
func AskInTurn(ctx context.Context, queue QuestionQueue, callID string, ask func(asking context.Context) error) error {
	for {
		if again, err := askOnce(ctx, queue, callID, ask); !again {
			return err
		}
	}
}

func askOnce(ctx context.Context, queue QuestionQueue, callID string, ask func(context.Context) error) (again bool, err error) {
	asking, leave, err := queue.Enter(ctx, callID)
	if err != nil {
		return false, err
	}
	defer leave()
	err = ask(asking)
	return err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), ErrWithdrawn), err
}

// NewQuestionQueue returns a QuestionQueue that asks in the order of Enter and withdraws nothing.
func NewQuestionQueue() QuestionQueue { return make(oneAtATime, 1) }

type oneAtATime chan struct{}

// Enter implements QuestionQueue.
func (q oneAtATime) Enter(ctx context.Context, _ string) (asking context.Context, leave func(), err error) {
	select {
	case q <- struct{}{}:
		return ctx, func() { <-q }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}
