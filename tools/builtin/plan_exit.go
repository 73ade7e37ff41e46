package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed plan_exit.md
var planExitPrompt string

type planExitArgs struct {
	Plan string `json:"plan"`
}

// planExitData says which mode the session is in now.
type planExitData struct {
	Mode string `json:"mode"`
}

// newPlanExit is the tool that asks the user to approve the plan and to leave
// plan mode (R98, R157). The permission request is the question: it is put each
// time, with the plan and the mode that follows, and the tool runs when they agree.
func newPlanExit() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "plan_exit",
		Description: prompt(planExitPrompt),
		Kind:        kinds.SwitchMode,
		Label:       "Leave plan mode and carry out the plan",
		Default:     capability.AskAlways,
		Accepts:     &tools.Accepts{Names: names("ExitPlanMode", "exit_plan_mode"), Fields: all(drop("the user's rules decide what is asked"), "allowedPrompts")},
		Parameters:  object(text("plan?", "The plan. Default: what plan wrote down.")),
		Requires:    capability.RequirementSet{FS: capability.FS{Read: []string{workspaceScope}}},
		Profile:     &tools.Profile{Serial: true},
		Lacks: func(s tools.Services) string {
			if s.Modes == nil {
				return "only the main agent can ask to leave plan mode"
			}
			return ""
		},
		DisableTimeout: true,
		Preview:        tools.Previewing("plan_exit", previewPlanExit),
	}, exitPlan)
}

// previewPlanExit shows what is asked: what follows first, since the plan is the
// model's text and could claim anything.
func previewPlanExit(ctx context.Context, rt tools.Runtime, a planExitArgs) ([]kinds.Content, error) {
	modes := rt.Services().Modes
	if modes == nil {
		return nil, noModes()
	}
	after, err := modes.AfterPlan()
	if err != nil {
		return nil, err
	}
	plan := strings.TrimSpace(a.Plan)
	if plan == "" {
		if plan, err = writtenPlan(ctx, rt); err != nil {
			return nil, err
		}
	}
	if limit := rt.Session().Limits.FileBytes; limit > 0 && int64(len(plan)) > limit {
		return nil, tools.Errorf(tools.BadInput, "plan_exit: the plan is larger than %d bytes", limit)
	}
	return []kinds.Content{
		kinds.Text{Text: fmt.Sprintf("If you allow this, plan mode ends and the session is in mode %s. The plan:", after)},
		kinds.Text{Text: kinds.Visible(plan)},
	}, nil
}

// writtenPlan is what the tool plan wrote down.
func writtenPlan(ctx context.Context, rt tools.Runtime) (string, error) {
	path := filepath.Join(rt.Session().Scratch, tools.PlanFile)
	written, err := rt.FS().ReadText(ctx, path)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fileFailure("read", path, err)
	}
	if strings.TrimSpace(written.Content) == "" {
		return "", tools.Errorf(tools.BadInput, "there is no plan to approve: write it down with plan, or give it as plan")
	}
	return strings.TrimSpace(written.Content), nil
}

func exitPlan(_ context.Context, rt tools.Runtime, _ planExitArgs) (*tools.Result, error) {
	modes := rt.Services().Modes
	if modes == nil {
		return nil, noModes()
	}
	mode, notice, err := modes.LeavePlan()
	if err != nil {
		return nil, err
	}
	return &tools.Result{
		Data: planExitData{mode}, Text: "The user approved the plan.\n" + notice,
		Content: []kinds.Content{kinds.Text{Text: "Plan mode has ended; the session is in mode " + mode + "."}},
	}, nil
}

func noModes() error { return tools.Errorf(tools.Unavailable, "this session has no plan mode") }
