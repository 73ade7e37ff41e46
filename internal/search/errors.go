package search

import "fmt"

// A PatternError says that a pattern given by the caller cannot be used. Its
// text is fit for the model: it names the pattern and the reason.
type PatternError struct {
	// Pattern is the pattern as given.
	Pattern string
	// Err is the reason, such as a [*syntax.Error].
	Err error
}

func (e *PatternError) Error() string { return fmt.Sprintf("bad pattern %q: %v", e.Pattern, e.Err) }

func (e *PatternError) Unwrap() error { return e.Err }
