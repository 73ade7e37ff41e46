package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R144: /export writes what was said before it, into a file that was not there, in the form that the
// user or the file's name says.
func TestExportCommand(t *testing.T) {
	const taken = "taken.md"
	for _, tt := range []struct {
		name, rest string
		file       string // that is written; "" is none
		starts     string // the file
		answer     string // part of it
	}{
		{name: "no form and no file", file: "conversation.md", starts: "# ", answer: "The conversation is written to [conversation.md](file://"},
		{name: "a form", rest: "json", file: "conversation.jsonl", starts: "{", answer: "[conversation.jsonl]"},
		{name: "a form and a file", rest: "html page.txt", file: "page.txt", starts: "<!DOCTYPE html>", answer: "[page.txt]"},
		{name: "a file that says its form", rest: "talk.html", file: "talk.html", starts: "<!DOCTYPE html>", answer: "[talk.html]"},
		{name: "options before a form", rest: "--all  --redact markdown out.md", file: "out.md", starts: "# ", answer: "[out.md]"},
		{name: "a file that says no form", rest: "talk", answer: "the name talk does not say which form is wanted. Type `/export [--redact]"},
		{name: "a file that is there", rest: taken, answer: "The conversation was not written: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newParts(t, Settings{}, map[string]string{taken: "mine"})
			p.say("hello there")
			p.say("/export " + tt.rest)
			answer := exportCommand(t.Context(), p.opened, p.conversation, tt.rest)
			if !strings.Contains(answer, tt.answer) {
				t.Errorf("the answer is %q, want %q in it", answer, tt.answer)
			}
			want := []string{taken}
			if tt.file != "" {
				want = append(want, tt.file)
			}
			if got := p.files(t); len(got) != len(want) || got[taken] != "mine" {
				t.Fatalf("the files are %q, want %q with the first as it was", got, want)
			}
			if text := p.files(t)[tt.file]; tt.file != "" && (!strings.HasPrefix(text, tt.starts) || !strings.Contains(text, "hello there") || strings.Contains(text, "/export")) {
				t.Errorf("%s begins with %.80q", tt.file, text)
			}
		})
	}
}

// A name that is taken is not chosen again, and what an undo took back is only there with --all.
func TestExportCommand_AgainAndAll(t *testing.T) {
	p := newParts(t, Settings{}, nil)
	p.say("kept words")
	p.say("undone words")
	p.conversation.hide([]string{"msg_undone words"})
	p.say("/export")
	exportCommand(t.Context(), p.opened, p.conversation, "")
	exportCommand(t.Context(), p.opened, p.conversation, "--all")
	for name, undone := range map[string]bool{"conversation.md": false, "conversation-2.md": true} {
		text := p.files(t)[name]
		if !strings.Contains(text, "kept words") || strings.Contains(text, "undone words") != undone {
			t.Errorf("%s holds\n%s", name, text)
		}
	}
}

// files are the texts of the files in the directory, by name.
func (p *parts) files(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	entries, err := os.ReadDir(p.work.Session().Cwd)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(p.work.Session().Cwd, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[entry.Name()] = string(text)
	}
	return texts
}
