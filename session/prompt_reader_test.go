package session

import (
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/fileuri"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// newTestReader returns the reader of a session whose directory holds the named files.
func newTestReader(t *testing.T, files map[string]string) (*promptReader, *parts) {
	t.Helper()
	p := newParts(t, Settings{}, files)
	var err error
	if p.secrets, err = newSecrets(p.host, p.settings); err != nil {
		t.Fatal(err)
	}
	if p.host.Registry, err = tools.NewRegistry(builtin.All()...); err != nil {
		t.Fatal(err)
	}
	s, _ := newTestSources(t, p)
	custom := &customCommands{opened: p.opened, project: p.project, changed: func() {}}
	custom.refresh()
	return &promptReader{
		opened: p.opened, conversation: p.conversation, sources: s, agents: p.agents(t), custom: custom,
		performer: &performer{conversation: p.conversation},
	}, p
}

func turnOf(t *testing.T, parts ...transcript.Part) *Turn {
	t.Helper()
	return &Turn{ctx: t.Context(), prompt: &transcript.Message{ID: "msg_1", Role: transcript.User, Parts: parts}}
}

// R30: the text of a file that holds secrets does not reach the model, by whatever link the file is
// named, and the user is told.
func TestPromptReader_DropsSecrets(t *testing.T) {
	r, p := newTestReader(t, map[string]string{".env": "KEY=1", "main.go": "package main"})
	in := func(name string) string { return filepath.Join(p.work.Session().Cwd, name) }
	prompt := turnOf(t,
		&transcript.ResourcePart{URI: fileuri.Of(in(".env")), Text: "KEY=1"},
		&transcript.ResourcePart{URI: fileuri.Of(in("main.go")), Text: "package main"},
	).prompt
	r.dropSecretAttachments(prompt)
	for i, want := range []string{withheld, "package main"} {
		if got := prompt.Parts[i].(*transcript.ResourcePart).Text; got != want {
			t.Errorf("part %d has the text %q, want %q", i, got, want)
		}
	}
	if notices := p.notices(); len(notices) != 1 || !strings.Contains(notices[0], ".env") {
		t.Errorf("notices: %q", notices)
	}
}

// A link that the editor alone can open is named once to the user and to the model; a file is left
// to the tools.
func TestPromptReader_LinksOfTheEditor(t *testing.T) {
	r, p := newTestReader(t, nil)
	link := &transcript.LinkPart{URI: "zed:///agent/terminal-selection?lines=3", Name: "terminal"}
	turn := turnOf(t, link, link, &transcript.LinkPart{URI: "file:///main.go", Name: "main.go"})
	r.readMentions(turn)
	if n := len(turn.prompt.Parts); n != 4 {
		t.Fatalf("the prompt has %d parts", n)
	}
	said, ok := turn.prompt.Parts[3].(*transcript.TextPart)
	if !ok || !said.Synthetic || !strings.Contains(said.Text, "The text of terminal was not sent") {
		t.Errorf("the model reads %+v", turn.prompt.Parts[3])
	}
	if notices := p.notices(); len(notices) != 1 {
		t.Errorf("notices: %q", notices)
	}
}

// Text that only begins with a slash is not a command.
func TestPromptReader_IsCommand(t *testing.T) {
	r, _ := newTestReader(t, nil)
	for text, want := range map[string]bool{"/undo 2": true, "/etc/hosts is wrong": false, "what does /undo do?": false, "go": false} {
		if got := r.isCommand(turnOf(t, &transcript.TextPart{Text: text}).prompt); got != want {
			t.Errorf("%q is a command: %t", text, got)
		}
	}
}

// R158: a command's text takes the place of what was typed for the model alone, with the files that
// it mentions, except files that hold secrets.
func TestPromptReader_Expand(t *testing.T) {
	r, p := newTestReader(t, map[string]string{"notes.txt": "The notes.", ".env": "KEY=1"})
	r.agents.tools.Policy.Add(permissions.User, permissions.Rule{Permission: "read", Pattern: "**", Action: capability.Allow})
	p.command(t, "mine", "Read @notes.txt and @.env for $ARGUMENTS.")
	r.custom.refresh()
	turn := turnOf(t, &transcript.TextPart{Text: "/mine the report"})
	if refusal := r.expand(turn); refusal != "" {
		t.Fatalf("refused: %s", refusal)
	}
	typed := turn.prompt.Parts[0].(*transcript.TextPart)
	if typed.Text != "/mine the report" || !typed.Replaced {
		t.Errorf("what was typed became %+v", typed)
	}
	var read strings.Builder
	for _, part := range turn.prompt.Parts[1:] {
		read.WriteString(part.(*transcript.TextPart).Text + "\n")
	}
	for _, want := range []string{"for the report.", "The notes.", ".env is not included here: it holds secrets"} {
		if !strings.Contains(read.String(), want) {
			t.Errorf("the model does not read %q:\n%s", want, read.String())
		}
	}
}

// A command that cannot be filled in is refused with the reason, and the prompt stays as it was typed.
func TestPromptReader_ExpandRefuses(t *testing.T) {
	r, p := newTestReader(t, nil)
	p.command(t, "twice", "$ARGUMENTS $ARGUMENTS")
	r.custom.refresh()
	turn := turnOf(t, &transcript.TextPart{Text: "/twice " + strings.Repeat("a", 1<<20)})
	refusal := r.expand(turn)
	if want := "`/twice` was not sent to the model: with these arguments its text is longer than 1 MiB.\n"; refusal != want {
		t.Errorf("the refusal is %q, want %q", refusal, want)
	}
	if n := len(turn.prompt.Parts); n != 1 {
		t.Errorf("the prompt has %d parts", n)
	}
}
