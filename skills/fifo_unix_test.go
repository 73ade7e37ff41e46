//go:build unix

package skills_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"acp-agent/skills"
)

// A pipe that no one writes to would block its reader: a read that blocks
// makes these tests run into their time limit.
func TestDiscover_Pipes(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"repo/.git/HEAD":                     "",
		"repo/.agents/skills/pipe/":          "",
		"repo/.agents/skills/linked/":        "",
		"repo/.agents/skills/later/SKILL.md": md("later", "becomes a pipe"),
		"repo/.claude/":                      "",
	})
	at := func(name string) string { return filepath.Join(top, "repo", filepath.FromSlash(name)) }
	for _, name := range []string{".agents/skills/pipe/SKILL.md", ".claude/skills", "AGENTS.md"} {
		if err := syscall.Mkfifo(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at(".agents/skills/linked/SKILL.md"), "-> ../pipe/SKILL.md", false)
	write(t, at("CLAUDE.md"), "-> AGENTS.md", false)

	o := skills.Options{Cwd: at(".")}
	library, warnings := skills.Discover(t.Context(), o)
	expect(t, top, warnings, [][]string{
		{"linked/SKILL.md", "no regular file"}, {"pipe/SKILL.md", "no regular file"}, {".claude/skills", "no regular file"},
	})
	instructions, warnings := skills.LoadInstructions(o)
	expect(t, top, warnings, [][]string{{"AGENTS.md", "no regular file"}, {"CLAUDE.md", "no regular file"}})
	if instructions.Text != "" {
		t.Errorf("text = %q", instructions.Text)
	}

	later := at(".agents/skills/later/SKILL.md")
	if err := os.Remove(later); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(later, 0o600); err != nil {
		t.Fatal(err)
	}
	if content, err := library.Load("later"); err == nil {
		t.Errorf("a pipe was loaded: %q", content)
	}
}
