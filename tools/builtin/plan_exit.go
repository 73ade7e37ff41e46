package builtin

import (
	"context"
	_ "embed"

	"acp-agent/tools"
)

//go:embed plan_exit.md
var planExitPrompt string

type planExitArgs struct {
	Plan string `json:"plan"`
}

// newPlanExit is the tool that asks to leave plan mode (R98, R157). There is no
// such mode in this build, and each call says so.
func newPlanExit() tools.Tool {
	return tools.Define(tools.Spec{
		ID:             "plan_exit",
		Description:    prompt(planExitPrompt),
		Parameters:     object(text("plan?", "The plan. Default: what plan wrote down.")),
		Profile:        &tools.Profile{Serial: true},
		DisableTimeout: true,
	}, exitPlan)
}

func exitPlan(context.Context, tools.Runtime, planExitArgs) (*tools.Result, error) {
	return nil, tools.Errorf(tools.Unavailable, "plan mode is not available yet")
}
