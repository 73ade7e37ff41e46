package tools

import (
	"context"
	"errors"
)

// ErrWithdrawn is the cause of the end of a question that was put away without an answer, to be
// asked again.
var ErrWithdrawn = errors.New("the question was withdrawn, to be asked again")

// Line orders the questions that the agents of a session have for the user. One is asked at
// a time, so that an answer may settle questions that wait (R123).
type Line interface {
	// Enter waits until the question of a call may be asked. The context that it returns ends
	// with ctx, and with the cause ErrWithdrawn when the question has to make room: the caller
	// leaves and enters again, as InLine does. leave is called once, when the question is answered or put away.
	Enter(ctx context.Context, callID string) (asking context.Context, leave func(), err error)
}

// InLine calls ask when it is the turn of the question of a call, and again when it failed
// because the question was withdrawn.
func InLine(ctx context.Context, line Line, callID string, ask func(asking context.Context) error) error {
	for {
		if again, err := inLineOnce(ctx, line, callID, ask); !again {
			return err
		}
	}
}

func inLineOnce(ctx context.Context, line Line, callID string, ask func(context.Context) error) (again bool, err error) {
	asking, leave, err := line.Enter(ctx, callID)
	if err != nil {
		return false, err
	}
	defer leave()
	err = ask(asking)
	return err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), ErrWithdrawn), err
}

// NewLine returns a Line that asks in the order of Enter and withdraws nothing.
func NewLine() Line { return make(line, 1) }

type line chan struct{}

// Enter implements Line.
func (l line) Enter(ctx context.Context, _ string) (asking context.Context, leave func(), err error) {
	select {
	case l <- struct{}{}:
		return ctx, func() { <-l }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}
