package record

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/redact"
)

const canary = "canary-0123456789-abcdefghij"

// TestRecorder_HoldsNoKey records a key whole and in pieces: it is not in the file, and the file is
// this user's alone.
func TestRecorder_HoldsNoKey(t *testing.T) {
	var keys redact.Values
	keys.Add(canary)
	path := filepath.Join(t.TempDir(), "recording.jsonl")
	r, err := Create(path, Options{Clean: keys.Text, Begins: keys.Begins})
	if err != nil {
		t.Fatal(err)
	}
	tape := RecordTo(r)
	r.Line("in", []byte(`{"method":"session/prompt","params":{"text":"my key is `+canary+`"}}`))
	x := tape.Exchange("model", func([]byte) []byte { return []byte(`{"messages":["` + canary + `"]}`) })
	for _, piece := range []string{"It is canary-01", "23456789-abc", "defghij, as you said. ", "Is there more?"} {
		x.Chunk("text", map[string]string{"Text": piece})
		r.Line("out", []byte(`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+piece+`"}}}}`))
	}
	x.End(nil)
	call := tape.Start("bash", "{}")
	for _, piece := range []string{"It is canary-01", "23456789-abc", "defghij, as it printed. ", "Is there more?"} {
		call.Step("event", []byte(`{"type":"ToolOutput","fields":{"CallID":"c","Text":"`+piece+`"}}`))
	}
	call.Return()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{canary, "23456789-abc", "defghij"} {
		if strings.Contains(string(data), part) {
			t.Errorf("the recording holds %q:\n%s", part, data)
		}
	}
	if strings.Count(string(data), redact.Mask) < 3 {
		t.Errorf("the recording lacks what stands in place of the key:\n%s", data)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Create(path, Options{}); !strings.Contains(errorText(err), "exists already") {
		t.Errorf("a file that exists: %v", err)
	}
	if _, err := Create(filepath.Join(path, "below"), Options{}); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that cannot be made: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const header = `{"format":"acp-agent recording","version":1}` + "\n"

// TestRead tells what is wrong with a file by its line, and leaves out a last line that is torn.
func TestRead(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the file is empty"},
		{"something else", "{}\n", "line 1: this is not a recording"},
		{"another version", `{"format":"acp-agent recording","version":2}` + "\n", "line 1: the recording has version 2"},
		{"damaged", header + `{"ms":1,"kind":"in_end"}` + "\n{\"ms\":\n" + `{"ms":1,"kind":"in_end"}` + "\n", "line 3: the line is damaged"},
		{"unknown kind", header + `{"kind":"odd"}` + "\n", `line 2: an entry of the unknown kind "odd"`},
		{"torn", header + `{"ms":1,"kind":"in_end"}` + "\n" + `{"ms":2,"ki`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Read(strings.NewReader(test.text))
			if !strings.HasPrefix(errorText(err), test.want) || (test.want == "") != (err == nil) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err == nil && (!r.Torn || len(r.Entries) != 1) {
				t.Errorf("torn %v, entries %v", r.Torn, r.Entries)
			}
		})
	}
}

// FuzzRead reads any text without a panic; what it reads can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add(header + `{"ms":1,"kind":"in","data":{"a":"b"}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		NewPlayer(r)
		for _, e := range r.Entries {
			if _, err := json.Marshal(e); err != nil {
				t.Errorf("%+v: %v", e, err)
			}
		}
	})
}
