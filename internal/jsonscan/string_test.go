package jsonscan_test

import (
	"strings"
	"testing"

	"acp-agent/internal/jsonscan"
)

func TestStringEnd(t *testing.T) {
	for text, want := range map[string]int{
		`"a"`: 3, `"a", "b"`: 3, `""`: 2, `"\""x`: 4, `"\\"x`: 4, `"a\\\"b"`: 8,
		`"a`: -1, `"a\"`: -1, `a"`: -1, ``: -1,
	} {
		if got := jsonscan.StringEnd([]byte(text)); got != want {
			t.Errorf("StringEnd(%s) = %d, want %d", text, got, want)
		}
		if got := jsonscan.StringEndIn(text); got != want {
			t.Errorf("StringEndIn(%s) = %d, want %d", text, got, want)
		}
	}
}

func TestReplaceString(t *testing.T) {
	upper := func(s string) string { return strings.ToUpper(s) }
	for literal, want := range map[string]string{
		`"a"`: `"A"`, `"a\nb"`: `"A\nB"`, `"\u00e4"`: `"Ä"`, `"<a>"`: `"<A>"`,
		`"A"`: "", `""`: "", `"`: "", `"\q"`: "",
	} {
		got, changed := jsonscan.ReplaceString([]byte(literal), upper)
		if string(got) != want || changed != (want != "") {
			t.Errorf("ReplaceString(%s) = %s, %v; want %s", literal, got, changed, want)
		}
	}
}

func TestEscapeControls(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":\n\"b\nc\td\"}": "{\"a\":\n\"b\\nc\\td\"}",
		"\"\x01\"":              `"\u0001"`,
		"\"a\\\"\nb\"":          `"a\"\nb"`,
		`{"a":"b"}`:             `{"a":"b"}`,
		"\"\xff\n":              "\"\xff\\n",
	} {
		if got := jsonscan.EscapeControls(text); got != want {
			t.Errorf("EscapeControls(%q) = %q, want %q", text, got, want)
		}
	}
}
