package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// The limits of job_output.
const (
	// maxJobWait bounds the wait that a model may ask for.
	maxJobWait = 10 * time.Minute
	// patternWait is how long a pattern is waited for where nothing else is said.
	patternWait = 30 * time.Second
	// maxPattern bounds a pattern, in bytes.
	maxPattern = 1000
)

//go:embed job_output.md
var jobOutputPrompt string

type jobOutputArgs struct {
	Job     string  `json:"job"`
	Pattern string  `json:"pattern"`
	Wait    float64 `json:"wait"`
}

// jobOutputData is the data of job_output.
type jobOutputData struct {
	tools.Job
	Output   string   `json:"output"`
	Matched  *bool    `json:"matched,omitempty"`
	Skipped  int64    `json:"skipped,omitempty"`
	File     string   `json:"file,omitempty"`
	ExitCode *int     `json:"exit_code,omitempty"`
	Signal   string   `json:"signal,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Ports    []int    `json:"ports,omitempty"`
}

// newJobOutput is the tool that reads what a command in the background prints.
func newJobOutput() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "job_output",
		Description: prompt(jobOutputPrompt),
		Kind:        kinds.Read,
		Label:       "Read output of a job",
		Describe:    argumentTitle("Read output of", "job"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("job", "The id that bash returned."),
			text("pattern?", "Wait until a line that you have not read matches this regular expression (RE2)."),
			number("wait?", "Wait so many seconds at most, for pattern or the end of the job. Default: 30 with pattern, else 0."),
		),
		Accepts:        jobOutputAccepts(),
		Profile:        &tools.Profile{},
		Lacks:          lacksJobs,
		DisableTimeout: true,
		OwnLimit:       true,
		ReadOnly:       true,
	}, jobOutput)
}

func jobOutput(ctx context.Context, rt tools.Runtime, a jobOutputArgs) (*tools.Result, error) {
	jobs, err := jobsOf(rt)
	if err != nil {
		return nil, err
	}
	until, err := a.until()
	if err != nil {
		return nil, err
	}
	out, err := jobs.Read(ctx, a.Job, until)
	if err != nil {
		return nil, err
	}
	shown := readView(rt, out)
	data := jobOutputData{
		Job: out.Job, Output: shown.text, Skipped: shown.omitted, File: out.File, Signal: out.Exit.Signal, Notes: out.Exit.Notes,
		Ports: kinds.PortNumbers(out.Ports),
	}
	if out.State == tools.JobExited {
		data.ExitCode = &out.Exit.Code
	}
	said := fmt.Sprintf("<job>%s</job>\n<output>%s</output>\n%s", out.ID, shown.body(), howItStands(out.Job))
	if until.Pattern != nil {
		data.Matched = &out.Matched
		said += fmt.Sprintf("\n<pattern_matched>%t</pattern_matched>", out.Matched)
	}
	return &tools.Result{
		Data: data, Text: said, Content: jobCard(shown, out.Job), Partial: ctx.Err() != nil, Truncated: shown.cut, OutputPath: shown.path,
	}, nil
}

// until is what the call waits for.
func (a jobOutputArgs) until() (until tools.JobWait, err error) {
	if len(a.Pattern) > maxPattern {
		return until, tools.Errorf(tools.BadInput, "job_output: pattern is longer than %d bytes", maxPattern)
	}
	if a.Pattern != "" {
		if until.Pattern, err = regexp.Compile(a.Pattern); err != nil {
			return until, &tools.Error{Kind: tools.BadInput, Message: "job_output: pattern: " + err.Error(), Err: err}
		}
		until.Limit = patternWait
	}
	if a.Wait > 0 {
		until.Limit = time.Duration(min(a.Wait, maxJobWait.Seconds()) * float64(time.Second))
	}
	return until, nil
}
