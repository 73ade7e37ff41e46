package textedit

import "fmt"

// SameError says that old and new text are equal (R37).
type SameError struct{}

func (SameError) Error() string { return "old_str and new_str must be different" }

// EmptyError says that the old text is empty (R38).
type EmptyError struct{}

func (EmptyError) Error() string { return "old_str must not be empty" }

// NotFoundError says that the old text is nowhere in the content, whitespace
// forgiven (R37).
type NotFoundError struct{}

func (NotFoundError) Error() string { return "Could not find exact match for old_str" }

// TooLargeError says that the content would become larger than any file that is
// edited.
type TooLargeError struct{}

func (TooLargeError) Error() string { return "the edited text would be too large" }

// MultipleError says that the old text stands in the content Count times (R37);
// where [Apply] gave up looking, at least so often.
type MultipleError struct {
	Count int
}

func (e MultipleError) Error() string {
	return fmt.Sprintf("found multiple matches for edit (%d occurrences). Use replace_all or provide more context.", e.Count)
}
