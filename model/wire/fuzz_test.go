package wire

import (
	"encoding/json"
	"testing"
)

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\u2028<\xff😀")
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		standard, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var mine, theirs string
		if err := json.Unmarshal(got, &mine); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if err := json.Unmarshal(standard, &theirs); err != nil {
			t.Fatal(err)
		}
		if mine != theirs {
			t.Errorf("%q became %s", s, got)
		}
	})
}
