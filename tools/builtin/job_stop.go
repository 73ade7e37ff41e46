package builtin

import (
	"context"
	_ "embed"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed job_stop.md
var jobStopPrompt string

type jobStopArgs struct {
	Job string `json:"job"`
}

// newJobStop is the tool that ends a command in the background.
func newJobStop() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "job_stop",
		Description: prompt(jobStopPrompt),
		Kind:        kinds.Other,
		Label:       "Stop a job",
		Describe:    argumentTitle("Stop", "job"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("job", "The id that bash returned.")),
		Accepts:     jobStopAccepts(),
		Profile:     &tools.Profile{},
		Lacks:       lacksJobs,
		ReadOnly:    true,
	}, jobStop)
}

func jobStop(ctx context.Context, rt tools.Runtime, a jobStopArgs) (*tools.Result, error) {
	jobs, err := jobsOf(rt)
	if err != nil {
		return nil, err
	}
	job, err := jobs.Stop(ctx, a.Job)
	if err != nil {
		return nil, err
	}
	said := job.ID + " was stopped"
	if job.State != tools.JobStopped {
		said = stateWords(job) + "; it had ended before"
	}
	return &tools.Result{Data: job, Text: said, Content: textCard(said), Partial: ctx.Err() != nil}, nil
}
