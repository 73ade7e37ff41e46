package transcript_test

import (
	"encoding/json"
	"testing"

	"acp-agent/transcript"
)

// FuzzDecodePart compares the reading of a text, which does not use encoding/json, with what
// encoding/json reads.
func FuzzDecodePart(f *testing.F) {
	for _, text := range []string{
		"", "plain", `a\nb\t\"c\"\\`, `\u00e9\u2028\/\b\f\r`, `\ud83d\ude00 \ud83d`, `\u12G4`, `\x`, `\`, `\\`, "é😀", "\xff", "a\x01", `\u00`, "\\u00\x10\x11",
		`a","replay":{"x":1},"b":"`, `a"} `, `a","text":"b`, `a","type":"image`, `a","synthetic":true,"c":"d`,
	} {
		f.Add(text, "reasoning")
		f.Add(text, "text")
	}
	f.Fuzz(func(t *testing.T, text, kind string) {
		data := []byte(`{"type":"` + kind + `","id":"` + text + `","text":"` + text + `"}`)
		var want struct {
			Type, ID, Text      string
			Synthetic, Replaced bool
			Replay              json.RawMessage
		}
		wrong := json.Unmarshal(data, &want)
		part, err := transcript.DecodePart(data)
		switch part := part.(type) {
		case *transcript.TextPart:
			if wrong != nil || *part != (transcript.TextPart{ID: want.ID, Text: want.Text, Synthetic: want.Synthetic, Replaced: want.Replaced}) {
				t.Errorf("%q is read as %+v, by encoding/json as %+v, %v", data, part, want, wrong)
			}
		case *transcript.ReasoningPart:
			if wrong != nil || part.ID != want.ID || part.Text != want.Text || string(part.Replay) != string(want.Replay) {
				t.Errorf("%q is read as %+v, by encoding/json as %+v, %v", data, part, want, wrong)
			}
		case nil:
			if err == nil || wrong == nil && (want.Type == "text" || want.Type == "reasoning") {
				t.Errorf("%q is not read, %v; encoding/json reads %+v", data, err, want)
			}
		}
	})
}
