package strictread_test

import (
	"strings"
	"testing"

	"acp-agent/internal/strictread"
)

func TestWithoutComments(t *testing.T) {
	for text, want := range map[string]string{
		"{\n// why\n\"a\": \"b // c\", /* d\n */ \"e\": [1,],\n}": "{\n\n\"a\": \"b // c\",\n\"e\": [1]\n}",
		"\ufeff{} // end\n": "{}\n",
		"{ // broken":       "{ // broken",
	} {
		got := string(strictread.WithoutComments([]byte(text)))
		if lines(got) != lines(want) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// lines is a text without blanks, whose lines still count.
func lines(text string) string { return strings.Join(strings.Split(text, " "), "") }
