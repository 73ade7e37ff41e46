package pipeline

import (
	"context"
	"io"

	"acp-agent/capability"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/tools"
)

// jobView returns the jobs that the agent of the pipeline sees; nil when it may start none.
func (p *Pipeline) jobView() tools.Jobs {
	if p.Workspace == nil || p.restricted {
		return nil
	}
	return p.Workspace.Jobs()
}

// env returns what the pure functions of tools may know of the session.
func (p *Pipeline) env() tools.Env {
	env := p.Workspace.Session().Env
	env.NoJobs = p.Services.Jobs == nil
	return env
}

// callJobs is tools.Jobs for one call. It refuses commands that the tool did not declare.
type callJobs struct {
	tools.Jobs
	*callRuntime
	pipeline *Pipeline
	tape     *record.Call // nil where the call is not recorded
}

// jobsOf returns the jobs for a call; nil when it may start none.
func (p *Pipeline) jobsOf(c *Prepared, r *callRuntime) tools.Jobs {
	if p.Services.Jobs == nil {
		return nil
	}
	r.Commands().RedactJobs(func(to io.Writer) (io.Writer, func()) {
		w := redact.NewWriter(to, redact.Stream{Values: p.Keys, Addresses: true})
		return w, func() { _ = w.Flush() } // as with the rest of the output, no one reads the error
	})
	return callJobs{p.Workspace.Jobs().From(r.Commands()), r, p, c.tape}
}

// Start implements tools.Jobs. The first job makes the tools for jobs usable.
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

// playJob records that the recorded call started a job. Nothing runs, but the tools for jobs become usable as
// they did then.
func (p *Pipeline) playJob(callID string) {
	p.Workspace.Jobs().Play(callID)
	p.catalogue.invalidate()
}
