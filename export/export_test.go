package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/export"
	"acp-agent/transcript"
)

var update = flag.Bool("update", false, "write the golden files again")

// written is a conversation in a form.
func written(t testing.TB, f export.Format, c export.Conversation, o export.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Write(context.Background(), &b, f, c, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWrite_Golden(t *testing.T) {
	redaction := &export.Redaction{Home: "/home/ann", User: "ann", Host: "annslaptop"}
	tests := []struct {
		name   string
		format export.Format
		o      export.Options
	}{
		{"sample.jsonl", export.JSON, export.Options{}},
		{"sample.md", export.Markdown, export.Options{}},
		{"sample.html", export.HTML, export.Options{}},
		{"sample.txt", export.Text, export.Options{Thoughts: true, Steps: true}},
		{"redacted.jsonl", export.JSON, export.Options{Redact: redaction}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			golden := filepath.Join("testdata", test.name)
			got := written(t, test.format, sample(t), test.o)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// The lines hold the whole conversation, in order, and messages and parts decode as they are
// documented.
func TestWrite_JSONHoldsTheConversation(t *testing.T) {
	c := sample(t)
	type line struct {
		Type, Subagent, Of, Call string
		N                        int
		Message                  *transcript.Message
		Part                     json.RawMessage
	}
	parts := map[string]int{}
	seen := map[string]bool{}
	for text := range strings.Lines(written(t, export.JSON, c, export.Options{})) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch l.Type {
		case "message":
			seen[l.Message.ID] = true
		case "part":
			if !seen[l.Of] || l.N != parts[l.Of] {
				t.Errorf("part %d of %s stands where part %d was expected", l.N, l.Of, parts[l.Of])
			}
			parts[l.Of]++
			if _, err := transcript.DecodePart(l.Part); err != nil {
				t.Error(err)
			}
		}
	}
	for m, err := range c.Messages {
		if err != nil {
			t.Fatal(err)
		}
		if !seen[m.ID] || parts[m.ID] != len(m.Parts) {
			t.Errorf("%s: %d parts, want %d", m.ID, parts[m.ID], len(m.Parts))
		}
	}
	if !seen["msg_c2"] {
		t.Error("the subagent's message is missing")
	}
}

// formats are all forms.
var formats = []export.Format{export.JSON, export.Markdown, export.HTML, export.Text}

func TestWrite_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	full := errors.New("the disk is full")
	for _, f := range formats {
		if err := export.Write(ctx, io.Discard, f, sample(t), export.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that it was cancelled", f, err)
		}
		if err := export.Write(context.Background(), failing{full}, f, sample(t), export.Options{}); !errors.Is(err, full) {
			t.Errorf("%s: %v, want that the disk is full", f, err)
		}
	}
	if err := export.Write(context.Background(), io.Discard, "pdf", sample(t), export.Options{}); err == nil {
		t.Error("a form that does not exist is written")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]export.Format{".md": export.Markdown, "jsonl": export.JSON, "HTML": export.HTML, ".htm": export.HTML, "pdf": "", "": ""} {
		if got, err := export.ParseFormat(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

// What a command printed before it was cancelled stands in every form.
func TestWrite_PrintedBeforeTheEnd(t *testing.T) {
	c := export.Conversation{Messages: export.Collect([]*transcript.Message{{ID: "m", Role: transcript.Assistant, Parts: []transcript.Part{
		&transcript.ToolPart{CallID: "c", Tool: "bash", State: transcript.Cancelled, Shown: "cancelled by the user", Printed: "\x1b[31mhalf way\x1b[0m\n"},
	}}})}
	for _, f := range formats {
		got := written(t, f, c, export.Options{})
		if !strings.Contains(got, "half way") || !strings.Contains(got, "cancelled by the user") {
			t.Errorf("%s: %s", f, got)
		}
	}
}
