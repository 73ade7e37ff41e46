package builtin

import (
	"context"
	_ "embed"
	"errors"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed skill.md
var skillPrompt string

type skillArgs struct {
	Name string `json:"name"`
}

// skillData is the data of a skill (R84).
type skillData struct {
	Content string `json:"content"`
}

// newSkill is the tool that loads a skill's text (R84). The session knows the
// skills; the tool needs no capability and conflicts with nothing.
func newSkill() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "skill",
		Description: prompt(skillPrompt),
		Kind:        kinds.Think,
		Label:       "Load skill",
		Describe:    argumentTitle("Load skill", "name"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("name", "Name of the skill, as listed.")),
		Accepts: &tools.Accepts{
			Names: names("load_skill", "use_skill", "activate_skill"),
			Fields: fields(
				all(to("name"), "skill", "skill_name"),
				all(drop("a skill takes none; follow its text with them in mind"), "args", "arguments", "input"),
			),
		},
		Lacks: func(s tools.Services) string {
			if s.Skills == nil {
				return "no skills were found"
			}
			return ""
		},
		Profile:  &tools.Profile{},
		ReadOnly: true,
	}, loadSkill)
}

func loadSkill(ctx context.Context, rt tools.Runtime, a skillArgs) (*tools.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Name == "" {
		return nil, tools.Errorf(tools.BadInput, "skill: name must not be empty")
	}
	index := rt.Services().Skills
	if index == nil {
		return nil, &tools.Error{
			Kind: tools.Unavailable, Message: "No skills were found for this session.",
			Detail: "They are looked for in the folders .agents/skills and .claude/skills of the project and of the home directory, " +
				"and in the folders that the settings name. Go on without.",
		}
	}
	content, err := index.Load(a.Name)
	if err != nil {
		return nil, skillFailure(err)
	}
	return &tools.Result{
		Data: skillData{content}, Text: content, Content: sentenceCard("The agent has read the skill " + kinds.Code(a.Name, titleRunes) + "."),
	}, nil
}

// skillFailure is the error of a name that leads to no text. It lists the names
// or says what is wrong with the file; to take another is the model's to do.
func skillFailure(err error) error {
	if _, known := errors.AsType[*tools.Error](err); known {
		return err
	}
	return &tools.Error{Kind: tools.BadInput, Message: "skill: " + err.Error(), Err: err}
}
