package session

import (
	"errors"
	"fmt"

	"acp-agent/model"
)

// fullSoon is the part of the window, in percent, from which on the user is told, once, that it
// fills and what comes then.
const fullSoon = 80

// fullness is whether the user was told of a window that fills.
type fullness struct {
	window int // in tokens; another model may have another one
	told   bool
}

// note takes in how full the window is, and returns what the user is to be told; "" for nothing.
func (f *fullness) note(used, window int) string {
	if window <= 0 {
		return ""
	}
	if f.window != window {
		*f = fullness{window: window}
	}
	if f.told || int64(used)*100/int64(window) < fullSoon {
		return ""
	}
	f.told = true
	return fmt.Sprintf("More than %d percent of the model's window are used: %d of %d tokens. Before it is full, the agent sums up the conversation "+
		"and goes on with the summary; `/compact` does so now, and keeps what you name after it.", fullSoon, used, window)
}

// overflowed adds to the failure of a turn whose request did not fit the model's window what
// to do about it. first says that nothing was said before it, attended that a user is there.
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
