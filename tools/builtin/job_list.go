package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed job_list.md
var jobListPrompt string

// jobListData is the data of job_list.
type jobListData struct {
	Jobs []listedJob `json:"jobs"`
}

// listedJob is one job in a listing.
type listedJob struct {
	tools.Job
	ExitCode *int `json:"exit_code,omitempty"`
}

// newJobList is the tool that lists the commands in the background.
func newJobList() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "job_list",
		Description: prompt(jobListPrompt),
		Kind:        kinds.Read,
		Label:       "List jobs",
		Default:     capability.AllowAlways,
		Parameters:  object(),
		Profile:     &tools.Profile{},
		Lacks:       lacksJobs,
		ReadOnly:    true,
	}, jobList)
}

func jobList(_ context.Context, rt tools.Runtime, _ struct{}) (*tools.Result, error) {
	jobs, err := jobsOf(rt)
	if err != nil {
		return nil, err
	}
	data := jobListData{Jobs: []listedJob{}}
	var lines []string
	for _, job := range jobs.List() {
		listed := listedJob{Job: job}
		if job.State == tools.JobExited {
			listed.ExitCode = &job.Exit.Code
		}
		data.Jobs = append(data.Jobs, listed)
		lines = append(lines, jobLine(job))
	}
	said := "No jobs"
	if len(lines) > 0 {
		said = strings.Join(lines, "\n")
	}
	return &tools.Result{Data: data, Text: said, Content: textCard(said)}, nil
}

// jobLine is a job in one line.
func jobLine(job tools.Job) string {
	state := string(job.State)
	if job.State == tools.JobExited {
		state = fmt.Sprintf("exit code %d", job.Exit.Code)
	}
	return fmt.Sprintf("%s (%s): %s [since %s, printed: %d bytes]", job.ID, state, kinds.Line(job.Command, askedRunes), job.Started.Format(time.RFC3339), job.Printed)
}
