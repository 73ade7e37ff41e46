package builtin

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed plan.md
var planPrompt string

type planArgs struct {
	Content string `json:"content"`
}

// planData says where the plan is.
type planData struct {
	Path string `json:"path"`
}

// newPlan is the tool that writes the plan of the work to the session's plan
// file (R98), at most Limits.FileBytes. It writes nowhere else.
func newPlan() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "plan",
		Description: prompt(planPrompt),
		Kind:        kinds.Think,
		Label:       "Plan",
		Default:     capability.AllowAlways,
		Parameters:  object(text("content", "The whole plan.")),
		// The session's own directories are part of its workspace.
		Requires: capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope}, Write: []string{workspaceScope}}},
		Profile: &tools.Profile{Keys: func(tools.Args, tools.Env) []tools.ResourceKey {
			return []tools.ResourceKey{{Key: "plan", Write: true}}
		}},
	}, writePlan)
}

func writePlan(ctx context.Context, rt tools.Runtime, a planArgs) (*tools.Result, error) {
	if strings.TrimSpace(a.Content) == "" {
		return nil, tools.Errorf(tools.BadInput, "plan: content must not be empty")
	}
	path := filepath.Join(rt.Session().Scratch, tools.PlanFile)
	content := strings.TrimSuffix(a.Content, "\n") + "\n"
	if limit := rt.Session().Limits.FileBytes; limit > 0 && int64(len(content)) > limit {
		return nil, tools.Oversize(path, int64(len(content)), limit)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unlock, err := rt.FS().Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, err := rt.FS().ReadText(ctx, path)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil { // no text any more: replaced all the same
		before = tools.Text{}
	}
	card := []kinds.Content{diffOf(ctx, path, before, content)}
	if err := rt.FS().WriteText(ctx, path, content, nil); err != nil {
		return nil, fileFailure("write", path, err)
	}
	return &tools.Result{
		Data: planData{path}, Text: "Plan saved in " + path,
		Content: card, Locations: []kinds.Location{{Path: path}},
	}, nil
}
