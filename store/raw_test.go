package store_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"acp-agent/store"
	"acp-agent/transcript"
)

// A session that was packed and unpacked elsewhere is read as it was, also when strings of it were
// changed on the way; what was damaged stays damaged, and what is there already stays.
func TestStore_PackUnpack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	from := store.New(store.Options{Dir: dir})
	r := from.Create(store.Info{ID: "ses_packed", Cwd: "/p"}, func(err error) { t.Error(err) })
	at := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)
	for _, id := range []string{"msg_1", "msg_2", "msg_3"} {
		r.Emit(transcript.UserSaid{Message: &transcript.Message{
			ID: id, Role: transcript.User, Created: at, Parts: []transcript.Part{&transcript.TextPart{ID: "prt_" + id, Text: "the text of " + id + " with <tags>"}},
		}})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "ses_packed.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(bytes.Replace(text, []byte("text of msg_2"), []byte("TEXT of msg_2"), 1), `{"type":"torn`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Pack("ses_packed", 10); err == nil {
		t.Error("a session over the limit was packed")
	}
	raw, err := from.Pack("ses_packed", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	var changed store.Raw
	if err := json.Unmarshal(bytes.Replace(data, []byte("text of msg_3"), []byte("[redacted] of msg_3"), 1), &changed); err != nil {
		t.Fatal(err)
	}
	to := store.New(store.Options{Dir: filepath.Join(t.TempDir(), "sessions")})
	for _, one := range []store.Raw{changed, {}} { // the second changes nothing
		if err := to.Unpack("ses_packed", one); err != nil {
			t.Fatal(err)
		}
	}
	st, err := to.Load("ses_packed")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for m, err := range st.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		got += m.ID + ": " + m.Text() + "\n"
	}
	if want := "msg_1: the text of msg_1 with <tags>\nmsg_2: \nmsg_3: the [redacted] of msg_3 with <tags>\n"; got != want {
		t.Errorf("it reads\n%swant\n%s", got, want)
	}
	if st.Damage.None() {
		t.Error("what was damaged is not known to be")
	}
	if err := to.Unpack("../out", changed); err == nil {
		t.Error("an id that leaves the directory was taken")
	}
}
