package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/loop"
	"acp-agent/session"
)

// TestFooting_OfAChangedParent holds that an agent is bound by the manifest that the
// agent above it has now, not by one that it had when an agent of the same name was
// bound first (R64).
func TestFooting_OfAChangedParent(t *testing.T) {
	const fix = "---\nname: fix\ndescription: Mends.\nmode: subagent\ntools: [read, edit, task]\n"
	g := newGround(t)
	g.settings.Subagents = session.Subagents{Depth: 5}
	g.put("a.txt", "x\n")
	g.put(".agents/agents/fix.md", fix+"---\nYou mend.\n")
	s, _ := g.open(`{"when": "^go$", "call": [{"name": "task", "args": {"subagent_type": "fix", "prompt": "mend"}}]}
{"say": "Done."}
{"when": "^mend$", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "edit"}}]}
{"say": "Mended."}
{"when": "^edit$", "call": [{"name": "edit", "args": {"path": "a.txt", "old_str": "x", "new_str": ""}}]}
{"say": "Edited."}
`)
	edited := func(want string) {
		t.Helper()
		wait(t, prompt(s, "/trust"), loop.EndTurn)
		wait(t, prompt(s, "go"), loop.EndTurn)
		if text, err := os.ReadFile(filepath.Join(g.dir, "a.txt")); err != nil || string(text) != want {
			t.Errorf("the file is %q (%v), want %q", text, err, want)
		}
	}
	edited("\n")
	g.put("a.txt", "x\n")
	g.put(".agents/agents/fix.md", fix+"permissions: {deny: [edit]}\n---\nYou mend.\n")
	edited("x\n")
}
