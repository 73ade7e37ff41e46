package shell

import (
	"fmt"
	"unicode/utf8"
)

// MaxText is the size in bytes above which a command text is refused (C8).
const MaxText = 64 << 10

// TextError says why a text may not be given to a shell at all, whatever it means.
type TextError struct {
	Reason string // for people, without the text itself
	Offset int    // byte at which the trouble starts
}

// Error implements error.
func (e *TextError) Error() string {
	return fmt.Sprintf("command text: %s at byte %d", e.Reason, e.Offset)
}

// CheckText returns a *TextError for a text that is over MaxText, is not UTF-8, or
// holds a control character other than newline and tab. No process argument can carry
// NUL, and the others can make a card show something else than what runs.
func CheckText(text string) error {
	if len(text) > MaxText {
		return &TextError{Reason: fmt.Sprintf("longer than %d bytes", MaxText), Offset: MaxText}
	}
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return &TextError{Reason: "invalid UTF-8", Offset: i}
			}
		case r == '\n' || r == '\t':
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return &TextError{Reason: fmt.Sprintf("control character %U", r), Offset: i}
		}
	}
	return nil
}
