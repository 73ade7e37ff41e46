package session

import (
	"errors"
	"fmt"

	"acp-agent/model"
)

// The parts of the window, in percent, from which on the user is warned that little of it
// is left, once each.
const (
	fullSoon = 80
	fullNow  = 90
)

// fullness is how far the user was warned of a window that fills.
type fullness struct {
	window int // in tokens; another model may have another one
	warned int // fullSoon or fullNow; 0 when they were not warned
}

// note takes in how full the window is, and returns the warning that is due; "" when none is.
func (f *fullness) note(used, window int) string {
	if window <= 0 {
		return ""
	}
	if f.window != window {
		*f = fullness{window: window}
	}
	reached := 0
	switch percent := int64(used) * 100 / int64(window); {
	case percent >= fullNow:
		reached = fullNow
	case percent >= fullSoon:
		reached = fullSoon
	}
	if reached == 0 || reached <= f.warned {
		return ""
	}
	f.warned = reached
	text := fmt.Sprintf("More than %d percent of the model's window are used: %d of %d tokens. ", reached, used, window)
	if reached == fullSoon {
		return text + "When it is full, the model cannot answer; `/clear` begins a new conversation in this session."
	}
	return text + "The next answers may not fit any more: ask the model to write down what matters, then begin a new conversation with `/clear`."
}

// overflowed adds to the failure of a turn whose request did not fit the model's window what
// to do about it. first says that nothing was said before it.
func (s *Session) overflowed(err error, window int, first bool) error {
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Kind != model.Overflow {
		return err
	}
	size := "the model's window"
	if window > 0 {
		size = fmt.Sprintf("the model's window of %d tokens", window)
	}
	words := *failure
	switch {
	case s.spec.Asker == nil:
		words.Hint = "this does not fit " + size + ": ask for less at once, or choose a model with a larger window"
	case first:
		words.Hint = "the prompt alone, with what the agent is told, does not fit " + size +
			": choose a model with a larger window, or give a local server a larger one; `/clear` takes the prompt out of the conversation"
	default:
		words.Hint = "the conversation does not fit " + size + " any more: `/clear` begins a new one, or choose a model with a larger window"
	}
	return &words
}
