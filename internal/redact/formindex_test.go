package redact

import (
	"strings"
	"testing"
)

// Each form is found wherever it is, by itself and beside all others.
func TestFormIndex_FindsEachForm(t *testing.T) {
	var all, want []string
	for _, form := range keyForms() {
		key := form.prefix + strings.Repeat("a", form.least)
		all, want = append(all, key), append(want, Mask)
		for _, text := range []string{key, "the key " + key, key + ", the key"} {
			if got := strings.ReplaceAll(text, key, Mask); Text(text) != got || !Holds(text, nil) {
				t.Errorf("%q becomes %q", text, Text(text))
			}
		}
	}
	if got := Text(strings.Join(all, " ")); got != strings.Join(want, " ") {
		t.Errorf("all together become %q", got)
	}
	for _, text := range []string{"", "s", "sk", "sk-", "the task-list of an ordinary text"} {
		if Text(text) != text {
			t.Errorf("%q becomes %q", text, Text(text))
		}
	}
}

func BenchmarkText_Ordinary(b *testing.B) {
	text := strings.Repeat("a line of a file that is read\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
