package pipeline

import (
	"context"
	"io"

	"acp-agent/capability"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/tools"
)

// jobView is the jobs that the agent of the pipeline sees; nil where it may have none.
func (p *Pipeline) jobView() tools.Jobs {
	if p.Workspace == nil || p.restricted {
		return nil
	}
	return p.Workspace.Jobs()
}

// env is what the pure functions of tools may know of the session.
func (p *Pipeline) env() tools.Env {
	env := p.Workspace.Session().Env
	env.NoJobs = p.Services.Jobs == nil
	return env
}

// callJobs are the jobs as one call may use them. Commands that the tool did not declare are
// refused.
type callJobs struct {
	tools.Jobs
	*callRuntime
	pipeline *Pipeline
	tape     *record.Call // nil where the call is not recorded
}

// callJobs returns the jobs for a call; nil where there can be none.
func (p *Pipeline) callJobs(c *Prepared, r *callRuntime) tools.Jobs {
	if p.Services.Jobs == nil {
		return nil
	}
	r.Commands().RedactJobs(func(to io.Writer) (io.Writer, func()) {
		w := redact.NewWriter(to, redact.Stream{Values: p.Keys, Addresses: true})
		return w, func() { _ = w.Flush() } // as with the rest of the output, no one reads the error
	})
	return callJobs{p.Workspace.Jobs().From(r.Commands()), r, p, c.tape}
}

// Start implements tools.Jobs. With the first job, the tools for jobs are there.
func (j callJobs) Start(ctx context.Context, cmd tools.ShellCommand) (tools.Job, error) {
	if !j.scope.Has(capability.CapShellRun) {
		return tools.Job{}, tools.Undeclared(j.tool, "commands")
	}
	var err error
	if cmd.Text, err = j.judgedAs(cmd); err != nil {
		return tools.Job{}, err
	}
	job, err := j.Jobs.Start(ctx, cmd)
	if err == nil {
		j.tape.Step(jobStep, []byte("{}"))
		j.pipeline.catalogue.invalidate()
	}
	return job, err
}

// playJob notes that a call of a recording started a job. Nothing runs; the tools for jobs are
// there as they were then.
func (p *Pipeline) playJob(callID string) {
	p.Workspace.Jobs().Play(callID)
	p.catalogue.invalidate()
}
