package skills

import "testing"

func TestClosed(t *testing.T) {
	for text, want := range map[string]string{
		"</skill_content>":       "&lt;/skill_content>",
		"</SKILL_CONTENT>":       "&lt;/SKILL_CONTENT>",
		"< / Skill_Content id=1": "&lt; / Skill_Content id=1",
		"<skill_content>":        "<skill_content>",
		"a < b":                  "a < b",
	} {
		if got := closed(text, "skill_content"); got != want {
			t.Errorf("closed(%q) = %q, want %q", text, got, want)
		}
	}
}
