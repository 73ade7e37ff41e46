package session

import (
	"errors"
	"fmt"

	"acp-agent/model"
)

// fullSoon is how full the window is, in percent, when the user is warned about what happens next.
const fullSoon = 80

// fullness warns the user once about a window that fills. A change of the window starts anew.
type fullness struct {
	window int // in tokens
	warned bool
}

// note notes how full the window is, and returns the warning for the user; "" when there is none.
func (f *fullness) note(used, window int) string {
	if window <= 0 {
		return ""
	}
	if f.window != window {
		*f = fullness{window: window}
	}
	if f.warned || int64(used)*100/int64(window) < fullSoon {
		return ""
	}
	f.warned = true
	return fmt.Sprintf("More than %d percent of the model's window are used: %d of %d tokens. Before it is full, the agent sums up the conversation "+
		"and goes on with the summary; `/compact` does so now, and keeps what you name after it.", fullSoon, used, window)
}

// overflowed adds a hint to the failure of a turn whose request did not fit the model's window. first
// says that the conversation was empty before the turn, attended that a user is there.
func overflowed(err error, window int, first, attended bool) error {
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
	case !attended:
		words.Hint = "this does not fit " + size + ": ask for less at once, or choose a model with a larger window"
	case first:
		words.Hint = "the prompt alone, with what the agent is told, does not fit " + size +
			": choose a model with a larger window, or give a local server a larger one; `/clear` takes the prompt out of the conversation"
	default:
		words.Hint = "even compacted, the conversation does not fit " + size + ": choose a model with a larger window, or begin a new conversation with `/clear`"
	}
	return &words
}
