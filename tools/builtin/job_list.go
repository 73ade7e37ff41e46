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
	ExitCode *int  `json:"exit_code,omitempty"`
	Ports    []int `json:"ports,omitempty"`
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
	var lines, shown []string
	for _, job := range jobs.List() {
		listed := listedJob{Job: job, Ports: kinds.PortNumbers(job.Ports)}
		if job.State == tools.JobExited {
			listed.ExitCode = &job.Exit.Code
		}
		data.Jobs = append(data.Jobs, listed)
		lines = append(lines, jobLine(job, portForModel))
		shown = append(shown, jobLine(job, kinds.Port.String))
	}
	if len(lines) == 0 {
		lines, shown = []string{"No jobs"}, []string{"No jobs"}
	}
	return &tools.Result{Data: data, Text: strings.Join(lines, "\n"), Content: textCard(strings.Join(shown, "\n"))}, nil
}

// jobLine is a job in one line, with one more for each of its ports.
func jobLine(job tools.Job, words func(kinds.Port) string) string {
	state := string(job.State)
	if job.State == tools.JobExited {
		state = fmt.Sprintf("exit code %d", job.Exit.Code)
	}
	line := fmt.Sprintf("%s (%s): %s [since %s, printed: %d bytes]", job.ID, state, kinds.Line(job.Command, askedRunes), job.Started.Format(time.RFC3339), job.Printed)
	for _, port := range job.Ports {
		line += "\n  " + words(port)
	}
	return line
}
