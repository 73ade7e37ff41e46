package session

import (
	"strings"
	"testing"

	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/skills"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

func newTestBriefing(t *testing.T, files map[string]string) *briefing {
	t.Helper()
	p := newParts(t, Settings{}, files)
	s, _ := newTestSources(t, p)
	c, _ := newTestChoices(t, permissions.ModeAsk, sandbox.None)
	return &briefing{
		opened: p.opened, choices: c, sources: s,
		agents:      &agents{opened: p.opened, project: p.project, tools: p.mainTools(tools.Limits{ModelBytes: 32 << 10})},
		environment: newEnvironment(p.opened, systemContext{skills: &skills.Library{}}),
	}
}

// R138: directories have a slash, .git is left out, and a small window gets a quarter.
func TestBriefing_TopOfTree(t *testing.T) {
	b := newTestBriefing(t, map[string]string{"go.mod": "", "cmd/main.go": "", ".git/HEAD": ""})
	if got := b.topOfTree(t.Context(), false); got != "cmd/, go.mod" {
		t.Errorf("the tree is %q", got)
	}
	many := map[string]string{}
	for c := 'a'; c <= 'z'; c++ {
		many[strings.Repeat(string(c), 50)] = ""
	}
	b = newTestBriefing(t, many)
	whole, brief := b.topOfTree(t.Context(), false), b.topOfTree(t.Context(), true)
	if len(whole) > treeBytes+len(", …") || len(brief) > treeBytes/4+len(", …") || len(brief) >= len(whole) || !strings.HasSuffix(brief, ", …") {
		t.Errorf("the tree is %q, brief %q", whole, brief)
	}
}

// R138: the facts and the statement of a mode are told once for as long as they stand in the
// conversation.
func TestBriefing_TellsOnce(t *testing.T) {
	b := newTestBriefing(t, nil)
	log := transcript.NewLog()
	const window = 128_000
	if err := b.choices.setOption(ModeOption, string(permissions.ModePlan)); err != nil {
		t.Fatal(err)
	}
	told := b.remindIn(log, b.agents.tools, window, b.choices.modes.now())
	if len(told) != 2 || !strings.Contains(text(told[0]), "<session_facts>") || !strings.Contains(text(told[1]), "plan mode") {
		t.Fatalf("told %v", told)
	}
	log.Apply(transcript.UserSaid{Message: &transcript.Message{ID: "u", Role: transcript.User, Parts: told}})
	if again := b.remindIn(log, b.agents.tools, window, b.choices.modes.now()); len(again) != 0 {
		t.Errorf("told again: %v", again)
	}
	if err := b.choices.setOption(ModeOption, string(permissions.ModeAsk)); err != nil {
		t.Fatal(err)
	}
	if over := b.remindIn(log, b.agents.tools, window, b.choices.modes.now()); len(over) != 1 || !strings.Contains(text(over[0]), "Plan mode is over") {
		t.Errorf("after plan mode, told %v", over)
	}
}

func text(part transcript.Part) string { return part.(*transcript.TextPart).Text }

func TestGitLine(t *testing.T) {
	for _, tt := range []struct {
		repository pipeline.Repository
		there      bool
		want       string
	}{
		{pipeline.Repository{}, false, ""},
		{pipeline.Repository{Branch: "main"}, true, "branch main"},
		{pipeline.Repository{Branch: "main", Known: true}, true, "branch main, nothing uncommitted when the session began"},
		{pipeline.Repository{Branch: "detached at 0123", Known: true}, true, "detached at 0123, nothing uncommitted when the session began"},
		{pipeline.Repository{Branch: "main", Known: true, Changed: 2}, true, "branch main, 2 changes uncommitted when the session began: not your work, keep it"},
	} {
		if got := gitLine(tt.repository, tt.there); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.repository, got, tt.want)
		}
	}
}
