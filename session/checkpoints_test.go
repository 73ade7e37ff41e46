package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/undo"
)

// newTestCheckpoints returns the checkpoints of a session that has no subagents.
func newTestCheckpoints(t *testing.T) (*checkpoints, *parts) {
	t.Helper()
	p := newParts(t, Settings{}, nil)
	s, _ := newTestSources(t, p)
	return newCheckpoints(p.work, p.conversation, p.agents(t), s, &performer{conversation: p.conversation}), p
}

// turn sends a message, upon which the agent writes a file.
func (p *parts) turn(t *testing.T, c *checkpoints, id, file, text string) {
	t.Helper()
	m := &transcript.Message{ID: id, Role: transcript.User, Created: time.Now(), Parts: []transcript.Part{&transcript.TextPart{Text: "write " + text}}}
	c.add(t.Context(), m)
	p.conversation.note(transcript.UserSaid{Message: m})
	call := p.work.Call("call_"+id, "write", nil)
	defer call.Finish()
	if err := call.FS().WriteText(t.Context(), filepath.Join(p.work.Session().Cwd, file), text, &tools.Text{}); err != nil {
		t.Fatal(err)
	}
}

// R142: an undo takes the file, the conversation and the plan back together, and a redo brings
// them back together.
func TestCheckpoints_UndoAndRedo(t *testing.T) {
	c, p := newTestCheckpoints(t)
	plan := func(content string) {
		p.conversation.record(transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: content}}})
	}
	plan("first")
	p.turn(t, c, "msg_1", "a.txt", "one")
	plan("second")
	p.turn(t, c, "msg_2", "b.txt", "two")
	plan("third")
	state := func() string {
		var files []string
		for _, name := range []string{"a.txt", "b.txt"} {
			if data, err := os.ReadFile(filepath.Join(p.work.Session().Cwd, name)); err == nil {
				files = append(files, string(data))
			}
		}
		return fmt.Sprintf("%s %d %s", files, len(p.conversation.log.Messages()), p.conversation.log.Memory().Plan[0].Content)
	}
	for _, tt := range []struct {
		what, says, want string
		run              func() string
	}{
		{"undo", "Your last message is taken back", "[one] 1 second", func() string { return c.undo(t.Context(), "") }},
		{"undo too much", "Only 1 of your messages", "[one] 1 second", func() string { return c.undo(t.Context(), "2") }},
		{"redo", "The undo is taken back", "[one two] 2 third", func() string { return c.redo(t.Context()) }},
		{"redo again", "There is no undo", "[one two] 2 third", func() string { return c.redo(t.Context()) }},
		{"rewind", "Your last 2 messages are taken back", "[] 0 first", func() string { return c.rewind(t.Context(), "1") }},
		{"list", "`/redo` brings them back", "[] 0 first", c.text},
	} {
		if text := tt.run(); !strings.Contains(text, tt.says) {
			t.Errorf("%s says %q", tt.what, text)
		}
		if got := state(); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.what, got, tt.want)
		}
	}
}

// What became of files is said by their paths as the user knows them, and in a bounded list.
func TestOutcomeText(t *testing.T) {
	dir := t.TempDir()
	out := undo.Outcome{Left: []undo.Left{{Path: filepath.Join(dir, "sub", "kept.go"), Why: "it is open"}}}
	for i := range listedPaths + 2 {
		out.Changed = append(out.Changed, filepath.Join(dir, fmt.Sprintf("f%02d.go", i)))
	}
	text := outcomeText(dir, out)
	for _, want := range []string{"Put back, 22 in all", "- `f19.go`\n- and 2 more", "- `sub/kept.go`: it is open"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, dir) {
		t.Errorf("whole paths in\n%s", text)
	}
}
