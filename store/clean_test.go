package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/redact"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

const secret = "hunter2-\"quoted\"-value"

// TestRecorder_Secrets holds that no file has a secret at any time, also one that comes in pieces,
// and that what servers want back is as it was.
func TestRecorder_Secrets(t *testing.T) {
	var values redact.Values
	values.Add(secret)
	key := "sk-" + strings.Repeat("a1B2", 8)
	dir := filepath.Join(t.TempDir(), "sessions")
	s := store.New(store.Options{Dir: dir, Clean: values.Text, GroupDelay: 1})
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(t))
	check := func() {
		t.Helper()
		for _, end := range []string{".jsonl", ".live"} {
			data, err := os.ReadFile(filepath.Join(dir, "ses_x"+end))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for _, piece := range []string{key[:20], `hunter2`, "MIIE"} {
				if bytes.Contains(data, []byte(piece)) {
					t.Fatalf("%s: %q is in %s", end, piece, data)
				}
			}
		}
	}
	say(r, "msg_1", "my key is "+key+" and "+secret)
	if err := r.Put("env", map[string]string{"KEY": secret}); err != nil {
		t.Error(err)
	}
	r.Emit(transcript.TitleChanged{Title: "Use " + key})
	r.Emit(transcript.StepStarted{MessageID: "msg_2", At: at})
	r.Emit(transcript.PartStarted{MessageID: "msg_2", PartID: "p", Kind: transcript.ReasoningKind})
	text := strings.Repeat("some words ", 40) + key + " more\n-----BEGIN PRIVATE KEY-----\nMIIE" + strings.Repeat("x\n", 200) + "-----END PRIVATE KEY-----\n" + secret + strings.Repeat(" words", 100)
	for piece := range strings.SplitSeq(text, "") {
		r.Emit(transcript.PartDelta{PartID: "p", Text: piece})
		if piece == " " || piece == "\n" || piece == "b" {
			r.Emit(transcript.StepDropped{MessageID: "none"}) // writes what there is
			check()
		}
	}
	replay := json.RawMessage(`{"sig":"` + key + `"}`)
	r.Emit(transcript.PartReplay{PartID: "p", Data: replay})
	r.Emit(transcript.PartEnded{PartID: "p"})
	r.Emit(transcript.ToolStarted{MessageID: "msg_2", CallID: "c", Name: "bash", Tool: "bash"})
	r.Emit(transcript.ToolReady{CallID: "c", Tool: "bash", Input: `{"command":"echo ` + key + `"}`, Card: kinds.Card{Title: "echo " + key}})
	r.Emit(transcript.ToolFinished{
		CallID: "c", State: transcript.Done, Text: secret, Shown: secret, Card: kinds.Card{Content: []kinds.Content{kinds.Text{Text: key}}},
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"authorization":12345678,"out":"` + key + `"}`)},
		Images: []transcript.ImagePart{{MediaType: "image/png", Data: "AKIAAAAAAAAAAAAAAAAAAAAA"}},
	})
	r.Emit(transcript.StepFinished{MessageID: "msg_2"})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	st, got := load(t, s, "ses_x")
	data, err := os.ReadFile(filepath.Join(dir, "ses_x.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(key)); n != 1 || bytes.Contains(data, []byte("hunter2")) {
		t.Errorf("the key stands %d times in the file, want once, in the replay", n)
	}
	if !st.Damage.None() || len(got.Messages) != 2 {
		t.Fatalf("%+v, %d messages", st.Damage, len(got.Messages))
	}
	thought, call := got.Messages[1].Parts[0].(*transcript.ReasoningPart), got.Messages[1].Calls()[0]
	if !bytes.Equal(thought.Replay, replay) || !strings.Contains(thought.Text, "[redacted]") {
		t.Errorf("thought: %s, %q", thought.Replay, thought.Text)
	}
	if call.Images[0].Data != "AKIAAAAAAAAAAAAAAAAAAAAA" || string(call.Result.Data) != `{"authorization":12345678,"out":"[redacted]"}` {
		t.Errorf("call: %+v, %s", call.Images, call.Result.Data)
	}
}
