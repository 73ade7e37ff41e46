package bridge_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/tools/bridge"
	"acp-agent/transcript"
)

// anyJSON draws the text of a JSON value.
func anyJSON() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		return raw(rapid.SampledFrom([]string{
			`null`, `true`, `"x"`, `""`, `"é<>&"`, `1`, `1.50`, `12345678901234567890`, `{}`, `[]`, `{"a": [1, {"b":null}]}`,
		}).Draw(t, "json"))
	})
}

func anyEnvelope() *rapid.Generator[bridge.Outcome] {
	return rapid.Custom(func(t *rapid.T) bridge.Outcome {
		text := rapid.SampledFrom([]string{"", "m", "two\nlines", "é<>&\u2028\"", "/w/a"})
		e := transcript.Envelope{Type: transcript.Output, Metadata: transcript.Metadata{
			DurationMS: rapid.Int64Range(0, 3).Draw(t, "ms"), Truncated: rapid.Bool().Draw(t, "truncated"),
			OutputPath: text.Draw(t, "path"), TrackFiles: rapid.SampledFrom([][]string{nil, {"/a"}, {"/a", "/b"}}).Draw(t, "files"),
		}}
		if rapid.Bool().Draw(t, "output") {
			if rapid.Bool().Draw(t, "data") {
				e.Data = anyJSON().Draw(t, "value")
			}
			return bridge.Ended(transcript.Done, e)
		}
		e.Type, e.ErrorText = transcript.Error, text.Draw(t, "message")
		d := transcript.ErrorDetail{
			Kind: text.Draw(t, "kind"), Code: text.Draw(t, "code"), AbsolutePath: text.Draw(t, "at"),
			DeniedBy: text.Draw(t, "by"), Type: text.Draw(t, "type"),
		}
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"output", "result", "stack", "metadata", "error"}), rapid.ID).Draw(t, "names")
		for _, name := range names {
			if d.Details == nil {
				d.Details = map[string]json.RawMessage{}
			}
			// A record cannot tell a result that is null from one that is not there.
			d.Details[name] = anyJSON().Filter(func(r json.RawMessage) bool { return string(r) != "null" }).Draw(t, name)
		}
		if !cmp.Equal(d, transcript.ErrorDetail{}) {
			e.Error = &d
		}
		return bridge.Ended(rapid.SampledFrom([]transcript.State{transcript.Failed, transcript.Cancelled, transcript.Rejected}).Draw(t, "state"), e)
	})
}

// R6: every envelope survives the way to either family and back.
func TestEnvelope_ThereAndBack(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				outcome := anyEnvelope().Draw(t, "outcome")
				record, err := f.encode(outcome)
				if err != nil {
					t.Fatal(err)
				}
				back, err := f.decode(record)
				if err != nil {
					t.Fatalf("%s: %v", record, err)
				}
				back.Form = bridge.Form{}
				if diff := cmp.Diff(outcome, back); diff != "" {
					t.Fatalf("%s: outcome (-want +got)\n%s", record, diff)
				}
			})
		})
	}
}

// R6: every record with any keys in any order comes back byte for byte.
func TestRecord_ThereAndBack(t *testing.T) {
	t.Parallel()
	keys := []string{"status", "success", "result", "output", "error", "trackFiles", "metadata", "other"}
	errorKeys := []string{"message", "type", "errorCode", "absolutePath", "result", "output", "other"}
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				record := drawObject(t, keys, func(t *rapid.T, key string) string {
					switch key {
					case "status":
						return rapid.SampledFrom([]string{`"done"`, `"error"`, `"cancelled"`, `"rejected-by-user"`, `"queued"`}).Draw(t, "status")
					case "success":
						return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "success")
					case "trackFiles":
						return rapid.SampledFrom([]string{`["/a"]`, `[]`, `null`, `[1]`, `"x"`}).Draw(t, "files")
					case "metadata":
						return rapid.SampledFrom([]string{`{"duration_ms":1}`, `{"kind":"k"}`, `{"state":"cancelled"}`, `{"x":1}`, `null`, `[]`, `{"state":"done"}`}).Draw(t, "metadata")
					case "error":
						if rapid.Bool().Draw(t, "null") {
							return "null"
						}
						return drawObject(t, errorKeys, func(t *rapid.T, name string) string { return string(anyJSON().Draw(t, name)) })
					}
					return string(anyJSON().Draw(t, key))
				})
				outcome, err := f.decode([]byte(record))
				if err != nil {
					return // a record without a status
				}
				back, err := f.encode(outcome)
				if err != nil {
					t.Fatal(err)
				}
				if record != string(back) {
					t.Fatalf("record\n%s came back as\n%s", record, back)
				}
			})
		})
	}
}

func drawObject(t *rapid.T, keys []string, value func(*rapid.T, string) string) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID).Draw(t, "keys") {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":` + value(t, key))
	}
	b.WriteByte('}')
	return b.String()
}

// fuzzRecords holds that no text breaks a decoder, that what it took can be
// written, and that what was written is read as the same and written the same.
func fuzzRecords(f *testing.F, fam family) {
	for _, seed := range []string{
		`{"status":"done","result":{"a":1},"trackFiles":["/a"]}`, `{"status":"error","error":{"message":"m","errorCode":"c"}}`,
		`{"success":false,"output":1,"error":{"message":"m","type":"T"},"metadata":{"duration_ms":1}}`, `{"output":"x"}`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outcome, err := fam.decode(data)
		if err != nil {
			return
		}
		if e := outcome.Envelope; e != nil && e.Type == transcript.Error && e.Data != nil {
			t.Fatalf("an error envelope has data: %s", e.Data)
		}
		once, err := fam.encode(outcome)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(once) {
			t.Fatalf("%s is no JSON", once)
		}
		again, err := fam.decode(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if diff := cmp.Diff(outcome, again); diff != "" {
			t.Fatalf("%s: outcome (-want +got)\n%s", once, diff)
		}
		if twice, err := fam.encode(again); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s, %v", once, twice, err)
		}
	})
}

func FuzzDecodeAmp(f *testing.F) { fuzzRecords(f, families()[0]) }

func FuzzDecodeAmplifier(f *testing.F) { fuzzRecords(f, families()[1]) }
