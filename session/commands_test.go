package session

import (
	"testing"

	"acp-agent/transcript"
)

func TestCommandOf(t *testing.T) {
	tests := []struct {
		name       string
		blocks     []string
		want, rest string
		during     bool
	}{
		{name: "a command", blocks: []string{"/help"}, want: "help"},
		{name: "with words after it", blocks: []string{" /tasks  stop all\n"}, want: "tasks", rest: "stop all", during: true},
		{name: "answered during a turn", blocks: []string{"/status"}, want: "status", during: true},
		{name: "the list of rules waits", blocks: []string{"/permissions"}, want: "permissions"},
		{name: "a change of rules does not", blocks: []string{"/permissions revoke 2"}, want: "permissions", rest: "revoke 2", during: true},
		{name: "a sign-in waits", blocks: []string{"/mcp login far"}, want: "mcp", rest: "login far"},
		{name: "a path", blocks: []string{"/usr/bin is full"}},
		{name: "an unknown name", blocks: []string{"/nothing"}},
		{name: "a text", blocks: []string{"say /help"}},
		{name: "after a text that was cancelled", blocks: []string{"work", "/clear"}, want: "clear"},
		{name: "a text in two blocks", blocks: []string{"work", "/clear\nand more"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prompt := &transcript.Message{}
			for _, block := range tt.blocks {
				prompt.Parts = append(prompt.Parts, &transcript.TextPart{Text: block})
			}
			c, ok := commandOf(prompt)
			if ok != (tt.want != "") || c.name != tt.want || c.rest != tt.rest {
				t.Fatalf("the command is %q with %q, want %q with %q", c.name, c.rest, tt.want, tt.rest)
			}
			if ok && c.isDuring() != tt.during {
				t.Errorf("answered during a turn: %t", !tt.during)
			}
		})
	}
}

// Each command is one whole entry of the table.
func TestSlashCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slashCommands() {
		if c.name == "" || c.description == "" || c.answer == nil || seen[c.name] {
			t.Errorf("the entry %q is not whole, or not the only one", c.name)
		}
		seen[c.name] = true
	}
}
