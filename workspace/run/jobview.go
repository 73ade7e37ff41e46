package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"acp-agent/tools"
)

// JobView is the jobs of a session as one agent sees them: the main agent all of them, a
// subagent its own.
type JobView struct {
	jobs  *Jobs
	agent string
	// commands start jobs; nil starts none.
	commands *Commands
}

var _ tools.Jobs = JobView{}

// View returns the jobs as an agent sees them; "" is the main agent, and the user.
func (js *Jobs) View(agent string) JobView { return JobView{jobs: js, agent: agent} }

// From returns the same view, whose jobs are started by the commands of a call.
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
	v.jobs.mu.Lock()
	list := slices.Clone(v.jobs.list)
	v.jobs.mu.Unlock()
	jobs := []tools.Job{}
	for _, j := range list {
		if v.sees(j) {
			jobs = append(jobs, j.snapshot())
		}
	}
	return jobs
}

// find returns the job of an id.
func (v JobView) find(id string) (*job, error) {
	v.jobs.mu.Lock()
	list := slices.Clone(v.jobs.list)
	v.jobs.mu.Unlock()
	for _, j := range list {
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
	j.told.Store(true) // the answer says it
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
	matched := until.Pattern != nil && j.output.matches(until.Pattern)
	info := j.snapshot() // before the output is read: one that has ended prints no more
	if info.State != tools.JobRunning {
		j.told.Store(true)
	}
	out := j.output.take()
	out.Job, out.Matched = info, matched
	return out, nil
}

// wait waits for what a reader wants to see.
func (j *job) wait(ctx context.Context, until tools.JobWait) {
	limit := time.NewTimer(until.Limit)
	defer limit.Stop()
	for {
		next, quiet := j.output.next(), (<-chan time.Time)(nil)
		if until.Pattern != nil && j.output.matches(until.Pattern) {
			return
		}
		if total, read := j.output.progress(); until.Quiet > 0 && total > read {
			quiet = time.After(until.Quiet)
		}
		select {
		case <-next:
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

// Told reports whether the end of a job was read or asked for, so that no one has to be told.
func (js *Jobs) Told(id string) bool {
	j, err := js.View("").find(id)
	return err == nil && j.told.Load()
}

// TakeEnded returns the jobs of a subagent that have ended and of which it has not been told.
func (js *Jobs) TakeEnded(agent string) (ended []tools.Job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if info := j.snapshot(); info.Agent == agent && info.State != tools.JobRunning && !j.told.Swap(true) {
			ended = append(ended, info)
		}
	}
	return ended
}
