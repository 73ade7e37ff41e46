package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/redact"
)

// A line says what encoding/json would have it say.
func TestEntry_Line(t *testing.T) {
	for _, e := range []Entry{
		{Kind: InEnd},
		{MS: 12, Kind: Answered, Name: "time", Data: json.RawMessage(`"a"`)},
		{MS: 1, Kind: Chunk, Of: 3, Key: "a\"b\\\n\t\x01<&>\u2028é\xff", Data: json.RawMessage(`{"a":[1]}`)},
		{Kind: Answered, Name: "n", Error: "it is\nnot there", Waited: true},
	} {
		want, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		line := e.appendTo(nil)
		var got, standard Entry
		if json.Unmarshal(line, &got) != nil || json.Unmarshal(want, &standard) != nil || !cmp.Equal(got, standard) {
			t.Errorf("%s stands for %s", line, want)
		}
		if strings.Count(string(line), "\n") != 1 {
			t.Errorf("not one line: %q", line)
		}
	}
}

// A secret is found in a line of a stream whether or not it, or a line near it, has escapes.
func TestEventLines(t *testing.T) {
	var keys redact.Values
	keys.Add(canary, "line\nbreak-and-more")
	c := cleaner{keys.Text}
	for _, test := range []struct{ text, want string }{
		{"data: {\"a\":\"b\"}\n\ndata: [DONE]\n", "data: {\"a\":\"b\"}\n\ndata: [DONE]\n"},
		{"data: {\"a\":\"" + canary + "\"}\ndata: {\"b\":\"c\"}\n", "data: {\"a\":\"[redacted]\"}\ndata: {\"b\":\"c\"}\n"},
		{"data: {\"a\":\"x\\n\"}\ndata: {\"b\":\"" + canary + "\"}", "data: {\"a\":\"x\\n\"}\ndata: {\"b\":\"[redacted]\"}"},
		{"data: {\"a\":\"\\u0063" + canary[1:] + "\"}\nevent: e\n", "data: {\"a\":\"[redacted]\"}\nevent: e\n"},
		{"data: {\"a\":\"line\\nbreak-and-more\"}\n", "data: {\"a\":\"[redacted]\"}\n"},
		{": " + canary + "\\\n" + canary, ": [redacted]\\\n[redacted]"},
		{"", ""},
	} {
		if got := c.eventLines(test.text); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
}

// The walker gives each string value its path, and stops where a text is not JSON.
func TestWalker(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":["x",{"c":"y"},"z"]},"d":1,"e":"w"}`: `.a.b.0=x .a.b.1.c=y .a.b.2=z .e=w`,
		`["a",["b"],{}]`: `.0=a .1.0=b`,
		`"alone"`:        `=alone`,
		`{"a":"x"}}"y"`:  `.a=x`,
		`{"a":"x","b`:    `.a=x`,
		`{"a" : "\n" }`:  ".a=\n",
	} {
		var got []string
		(&walker{}).strings(text, func(path, name []byte, l leaf) {
			if value, ok := l.value(); ok && strings.HasSuffix(string(path), string(name)) && text[l.start:l.end] == l.literal {
				got = append(got, string(path)+"="+value)
			}
		})
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s has %q, want %q", text, got, want)
		}
	}
}

// The fingerprint of a request has short values, digests of the others and of elements, all without secrets;
// also when a secret becomes known after its value was seen.
func TestFingerprints(t *testing.T) {
	var keys redact.Values
	f := fingerprints{clean: keys.Text, secrets: keys.Size}
	long := strings.Repeat("long ", 20)
	body := `{"model":"m","stream":true, "messages":[{"role":"user"},"` + canary + `"],"system":"` + long + `","none":[],"model":"n"}`
	digests := func(second string) string {
		return `{"messages":["` + digest([]byte(`{"role":"user"}`)) + `","` + digest([]byte(second)) + `"],"model":"\"n\"","none":[],"stream":"true","system":"` +
			digest([]byte(`"`+long+`"`)) + `"}`
	}
	for range 2 {
		if got, want := string(f.of([]byte(body))), digests(`"`+canary+`"`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	keys.Add(canary)
	masked := digests(`"` + redact.Mask + `"`)
	if got := string(f.of([]byte(body))); got != masked {
		t.Errorf("got %s, want %s", got, masked)
	}
	if got := string(fingerprint([]byte(strings.ReplaceAll(body, canary, redact.Mask)))); got != masked {
		t.Errorf("a replay has %s, want %s", got, masked)
	}
	for _, text := range []string{"", "a=b", `{"a"`, `{"a":}`, `{"a":1 "b":2}`, `[1]`} {
		if got, want := string(f.of([]byte(text))), `"`+digest([]byte(text))+`"`; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// What a request, a call or a piece of bytes holds is cleaned like the data of any entry.
func TestJoiner_LaterData(t *testing.T) {
	var keys redact.Values
	keys.Add(canary)
	var lines string
	j := newJoiner(Options{Clean: keys.Text, Begins: keys.Begins, Secrets: keys.Size}, func(b []byte) error {
		lines += string(b)
		return nil
	})
	now := time.Now()
	piece := func(text string) {
		j.add(pending{Entry: Entry{Kind: Chunk, Of: 1}, complete: func(_ *joiner, w *waitingEntry) { w.text, w.lines = text, true }}, now)
	}
	piece(`data: {"delta":{"content":"It is ` + canary[:9] + "\"}}\n\n")
	piece(`data: {"delta":{"content":"` + canary[9:] + ". And\\n\"}}\n\n")
	if err := j.flush(false, now); err != nil || lines != "" {
		t.Fatalf("written too early: %q, %v", lines, err)
	}
	j.add(pending{Entry: Entry{Kind: Ended, Of: 1, Name: canary}}, now)
	if err := j.flush(false, now); err != nil {
		t.Fatal(err)
	}
	want := `{"ms":0,"kind":"chunk","of":1,"data":"data: {\"delta\":{\"content\":\"It is [redacted]. And\\n\"}}\n\n"}
{"ms":0,"kind":"chunk","of":1,"data":"data: {\"delta\":{\"content\":\"\"}}\n\n"}
{"ms":0,"kind":"end","of":1,"name":"[redacted]"}
`
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
