package run

import (
	"context"
	"fmt"
	"time"

	"acp-agent/tools"
)

// JobView is the jobs of a session that one agent sees: the main agent sees all of them, a
// subagent its own.
type JobView struct {
	jobs  *Jobs
	agent string
	// commands start jobs; with nil none can be started.
	commands *Commands
}

var _ tools.Jobs = JobView{}

// View returns the jobs that an agent sees; "" is the main agent, and the user.
func (js *Jobs) View(agent string) JobView { return JobView{jobs: js, agent: agent} }

// From returns the same view, with the commands of a call to start jobs.
func (v JobView) From(c *Commands) JobView {
	v.commands = c
	return v
}

func (v JobView) sees(j *job) bool { return v.agent == "" || j.snapshot().Agent == v.agent }

// Start implements tools.Jobs.
func (v JobView) Start(ctx context.Context, cmd tools.ShellCommand) (tools.Job, error) {
	if v.commands == nil {
		return tools.Job{}, tools.Errorf(tools.Unavailable, "no commands can be run here")
	}
	return v.commands.start(ctx, cmd, v.agent)
}

// List implements tools.Jobs.
func (v JobView) List() []tools.Job {
	jobs := []tools.Job{}
	for _, j := range v.jobs.all() {
		if v.sees(j) {
			jobs = append(jobs, j.snapshot())
		}
	}
	return jobs
}

// find returns the job with an id.
func (v JobView) find(id string) (*job, error) {
	for _, j := range v.jobs.all() {
		if v.sees(j) && j.snapshot().ID == id {
			return j, nil
		}
	}
	return nil, &tools.Error{
		Kind: tools.BadInput, Message: fmt.Sprintf("there is no job %q", id), Hint: "job_list lists the jobs",
	}
}

// Stop implements tools.Jobs.
func (v JobView) Stop(ctx context.Context, id string) (tools.Job, error) {
	j, err := v.find(id)
	if err != nil {
		return tools.Job{}, err
	}
	j.endReported.Store(true) // by the result of this call
	j.cancel(errJobStopped)
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	return j.snapshot(), nil
}

// Read implements tools.Jobs.
func (v JobView) Read(ctx context.Context, id string, until tools.JobWait) (tools.JobOutput, error) {
	j, err := v.find(id)
	if err != nil {
		return tools.JobOutput{}, err
	}
	if until.Limit > 0 {
		j.wait(ctx, until)
	}
	v.jobs.refreshPorts(j)
	matched := until.Pattern != nil && j.output.matches(until.Pattern)
	info := j.snapshot() // before the output is read: one that has ended prints no more
	if info.State != tools.JobRunning {
		j.endReported.Store(true)
	}
	out := j.output.readNew()
	out.Job, out.Matched = info, matched
	return out, nil
}

// wait waits until the job has printed what a reader wants to see, or until.Limit is over.
func (j *job) wait(ctx context.Context, until tools.JobWait) {
	limit := time.NewTimer(until.Limit)
	defer limit.Stop()
	for {
		more, quiet := j.output.more(), (<-chan time.Time)(nil)
		if until.Pattern != nil && j.output.matches(until.Pattern) {
			return
		}
		if total, read := j.output.progress(); until.Quiet > 0 && total > read {
			quiet = time.After(until.Quiet)
		}
		select {
		case <-more:
		case <-quiet:
			return
		case <-j.done:
			return
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(jobPace):
		case <-j.done:
			return
		}
	}
}

// EndReported reports whether an agent already knows of the end of a job, because it has read the job's
// output since, or has stopped the job.
func (js *Jobs) EndReported(id string) bool {
	j, err := js.View("").find(id)
	return err == nil && j.endReported.Load()
}

// ReportEnded returns the jobs of a subagent that have ended since it was last called, but not the ones whose end the
// subagent already knows.
func (js *Jobs) ReportEnded(agent string) (ended []tools.Job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if info := j.snapshot(); info.Agent == agent && info.State != tools.JobRunning && !j.endReported.Swap(true) {
			ended = append(ended, info)
		}
	}
	return ended
}
