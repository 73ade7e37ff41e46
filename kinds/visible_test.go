package kinds_test

import (
	"testing"

	"acp-agent/kinds"
)

// O2: what turns text, hides in it or is not shown is written out; what people write stays.
func TestVisible(t *testing.T) {
	for _, r := range []rune{
		'\x1b', '\r', 0x85, 0xad, 0x34f, 0x61c, 0x17b4, 0x200b, 0x200e, 0x2028, 0x202e, 0x2060, 0x2066, 0x206a, 0xfeff, 0xfff9, 0xe0041, 0xe0100,
	} {
		if text := "a" + string(r) + "b"; kinds.Visible(text) == text {
			t.Errorf("%U is not shown", r)
		}
	}
	for _, text := range []string{"a\tb\n", "Grüße", "你好", "שלום", "❤️", "👍🏽"} {
		if got := kinds.Visible(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
