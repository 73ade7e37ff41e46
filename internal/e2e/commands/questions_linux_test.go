package commands

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An interrupt at a question on the terminal ends the program at once, without a line that is entered first, and
// leaves the terminal as it was.
func TestQuestions_Interrupted(t *testing.T) {
	for _, tt := range []struct {
		name, question string
		args           []string
		typed          string
		signal         os.Signal
	}{
		{"Ctrl-C at a tool's question", "Allow? [y/N] ", []string{"tool", "bash", `{"cmd": "touch made"}`}, "\x03", nil},
		{"Ctrl-C after half an answer", "Allow? [y/N] ", []string{"tool", "bash", `{"cmd": "touch made"}`}, "y\x03", nil},
		{"SIGTERM at a tool's question", "Allow? [y/N] ", []string{"tool", "bash", `{"cmd": "touch made"}`}, "", syscall.SIGTERM},
		{"Ctrl-C at the question about trust", "Trust this project? [y/N] ", []string{"trust"}, "\x03", nil},
		{"Ctrl-C at a question of the demo", "[n] ", []string{"demo"}, "\x03", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			settings := filepath.Join(home, ".acp-agent")
			if err := os.Mkdir(settings, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(settings, "config.jsonc"), []byte(`{"rules": {"allow": ["bash(make)"]}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startPTY(t, home, tt.args...)
			p.answer(tt.question, tt.typed)
			if tt.signal != nil {
				if err := p.cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			ended := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
			p.end(130)
			ended.Stop()
			if _, err := os.Stat(filepath.Join(home, "made")); err == nil {
				t.Error("what was asked about was done")
			}
		})
	}
}

// An answer that is typed counts.
func TestQuestions_Answered(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := startPTY(t, home, "tool", "bash", `{"cmd": "touch made"}`)
	p.answer("Allow? [y/N] ", "y\n")
	p.end(0)
	if _, err := os.Stat(filepath.Join(home, "made")); err != nil {
		t.Error(err)
	}
}
