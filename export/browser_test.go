package export_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/export"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

var picture = flag.Bool("picture", false, "draw the picture of an exported page in the documentation again")

// browserReport is what testdata/browser/page.mjs says of a page.
type browserReport struct {
	Version            string
	Problems, Requests []string
	Violations         []json.RawMessage
	Text, PlainText    string
	Focus              []string
	Search             struct {
		Found, At      string
		Opened, Hidden bool
		Shown, Marked  int
	}
}

// inBrowser opens a page in headless Chromium.
func inBrowser(t *testing.T, page string, args ...string) browserReport {
	t.Helper()
	dir := testfile.Repository(t, "testdata", "browser")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		testreq.Skip(t, "no browser is installed: make browser")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		testreq.Skip(t, "Node is not installed")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(dir, "page.mjs"), file}, args...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var report browserReport
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// everything is the sample with all colours of a terminal, and with hostile texts, some of them in
// the short form.
func everything(t *testing.T) export.Conversation {
	t.Helper()
	c := sample(t)
	var colours strings.Builder
	for i := range 8 {
		fmt.Fprintf(&colours, "\x1b[3%dmfore %d\x1b[0m \x1b[9%dmbright %d\x1b[0m \x1b[4%dmback %d\x1b[0m \x1b[10%dmbright back %d\x1b[0m\n", i, i, i, i, i, i, i, i)
	}
	colours.WriteString("\x1b[2mdim\x1b[0m \x1b[7minverse\x1b[0m \x1b[1;7;31mall of it\x1b[0m\n")
	messages := []*transcript.Message{{ID: "x", Role: transcript.User, Parts: []transcript.Part{text("", "Show all colours.")}}}
	messages = append(messages, &transcript.Message{Role: transcript.Assistant, Parts: []transcript.Part{
		text("", "# A heading\n\n## Another\n\n---\n\n> said\n\n```diff\n-a\n+b\n```\n\nSee https://go.example/x, `code`, *this* and ~~that~~."),
		&transcript.ToolPart{State: transcript.Done, Text: colours.String(), Card: kinds.Card{Kind: kinds.Execute, Title: "colours"}},
		&transcript.ToolPart{State: transcript.Failed, Text: strings.Repeat("a long line without a blank", 40), Card: kinds.Card{Kind: kinds.Execute, Title: strings.Repeat("long", 80)}},
	}})
	for _, bad := range testreq.Pick(6, hostile) {
		for m := range hostileConversation(bad).Messages {
			messages = append(messages, m)
		}
	}
	first := c.Messages
	c.Messages = func(yield func(*transcript.Message, error) bool) {
		for m, err := range first {
			if !yield(m, err) {
				return
			}
		}
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
	return c
}

func TestPage_InABrowser(t *testing.T) {
	page := written(t, export.HTML, everything(t), export.Options{})
	r := inBrowser(t, page)
	t.Log(r.Version)
	if len(r.Problems) > 0 || len(r.Requests) > 0 {
		t.Errorf("problems %q, requests %q", r.Problems, r.Requests)
	}
	for _, v := range r.Violations {
		t.Errorf("axe: %s", v)
	}
	if want := []string{"Skip to the conversation", "words"}; !slices.Equal(r.Focus, want) {
		t.Errorf("the focus goes to %q, want %q", r.Focus, want)
	}
	if s := r.Search; s.Found != "1 match" || s.At != "1 of 1 match" || !s.Opened || !s.Hidden || s.Shown != 1 || s.Marked != 1 {
		t.Errorf("search %+v", s)
	}
	if r.PlainText == "" || r.PlainText != r.Text {
		t.Errorf("without script the page has %d bytes of text, with it %d", len(r.PlainText), len(r.Text))
	}
	if said := strings.TrimSpace(parsed(t, page)); !strings.Contains(r.Text, said[len(said)-200:]) {
		t.Error("the browser does not show the end of the page")
	}
}

// TestPage_Picture draws the picture in docs/sessions.md.
func TestPage_Picture(t *testing.T) {
	file := testfile.Repository(t, "docs", "conversation.png")
	if *picture {
		inBrowser(t, written(t, export.HTML, sample(t), export.Options{}), "--shot", file)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 200_000 {
		t.Errorf("the picture has %d bytes", info.Size())
	}
}
