package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// skillIndex knows the skill "release"; "gone" has lost its file.
type skillIndex struct{}

func (skillIndex) Load(name string) (string, error) {
	switch name {
	case "release":
		return "<skill_content name=\"release\">\nTag it.\n</skill_content>", nil
	case "gone":
		return "", fmt.Errorf("skill gone cannot be loaded: %w", fs.ErrNotExist)
	case "broken":
		return "", tools.Errorf(tools.Backend, "the disk is broken")
	}
	return "", errors.New(`no skill is called "` + name + `"; there are: gone, release`)
}

func skilled() *tooltest.Runtime {
	rt := tooltest.New(tooltest.Options{})
	rt.Serve.Skills = skillIndex{}
	return rt
}

func TestSkill_Loads(t *testing.T) {
	t.Parallel()
	const want = "<skill_content name=\"release\">\nTag it.\n</skill_content>"
	tests := []struct {
		name string
		args map[string]any
	}{
		{"skill", map[string]any{"name": "release"}},
		{"Skill", map[string]any{"name": "release"}},
		{"Skill", map[string]any{"skill": "release"}},
	}
	for _, tt := range tests {
		t.Run(encode(t, tt.args)+" as "+tt.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, skilled(), tt.name, tt.args)
			if diff := cmp.Diff(map[string]any{"content": want}, data(t, result)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if got := result.ModelText(); got != want {
				t.Errorf("the model reads %q, want %q", got, want)
			}
		})
	}
}

func TestSkill_Errors(t *testing.T) {
	t.Parallel()
	none := tooltest.New(tooltest.Options{})
	tests := []struct {
		name     string
		rt       *tooltest.Runtime
		skill    string
		kind     tools.ErrorKind
		mentions []string
	}{
		{"unknown", skilled(), "relase", tools.BadInput, []string{"relase", "gone, release"}},
		{"file gone", skilled(), "gone", tools.BadInput, []string{"skill gone cannot be loaded"}},
		{"error of the host", skilled(), "broken", tools.Backend, []string{"the disk is broken"}},
		{"empty", skilled(), "", tools.BadInput, []string{"must not be empty"}},
		{"no skills", none, "release", tools.Unavailable, []string{"No skills were found", ".agents/skills", ".claude/skills"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			failure := fail(t, tt.rt, "skill", map[string]any{"name": tt.skill})
			if failure.Kind != tt.kind {
				t.Errorf("kind = %s, want %s", failure.Kind, tt.kind)
			}
			for _, mention := range tt.mentions {
				if !strings.Contains(failure.Error(), mention) {
					t.Errorf("error %q does not mention %q", failure.Error(), mention)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := skilled().Run(ctx, tool(t, "skill"), "skill", `{"name":"release"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
}

// Loading a skill needs nothing, changes nothing and waits for nothing.
func TestSkill_Spec(t *testing.T) {
	t.Parallel()
	skill := tool(t, "skill")
	if !skill.ReadOnly || skill.OwnLimit || skill.Profile == nil || skill.Profile.Serial || skill.Profile.Keys != nil {
		t.Errorf("read-only %v, own limit %v, profile %+v", skill.ReadOnly, skill.OwnLimit, skill.Profile)
	}
	if diff := cmp.Diff(tools.Spec{}.Requires, skill.Requires); diff != "" {
		t.Errorf("requires (-want +got):\n%s", diff)
	}
}
