package tools

import (
	"context"
	"regexp"
	"time"

	"acp-agent/kinds"
)

// Jobs are the commands of a session that go on after the call that started them, as one agent
// may see them: a subagent sees its own alone. They end with the session, those of a subagent
// with the subagent. It is safe for concurrent use.
type Jobs interface {
	// Start starts a command as a job, and returns once it runs. It is judged and confined as
	// Processes.Run has it, but asks nothing later: the call that could ask is over by then.
	// The error is an *Error when as many jobs run as may.
	Start(ctx context.Context, cmd ShellCommand) (Job, error)
	// Read returns what a job has printed since it was last read, after waiting for what until
	// names. When ctx ends, it returns what there is by then.
	Read(ctx context.Context, id string, until JobWait) (JobOutput, error)
	// Stop ends a job and all of its processes. A job that has ended is no error.
	Stop(ctx context.Context, id string) (Job, error)
	// List lists the jobs that run, and the last that have ended, in the order of their start.
	List() []Job
}

// Job is a command in the background.
type Job struct {
	// ID is unique in the session.
	ID string `json:"id"`
	// Command and Dir are what runs, and where; CallID is the call that started it.
	Command string `json:"command"`
	Dir     string `json:"cwd"`
	CallID  string `json:"-"`
	// Agent is the id of the subagent that started it; "" for the main agent.
	Agent string   `json:"-"`
	State JobState `json:"state"`
	// Exit says how it ended by itself.
	Exit Exit `json:"-"`
	// Started is when it started, Ended when it ended; the zero time until then.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"-"`
	// Printed counts the bytes of its output.
	Printed int64 `json:"printed"`
	// Ports are the TCP ports on which its processes listen, in their order, as they were seen
	// last; none where that cannot be seen, and none once it has ended.
	Ports []kinds.Port `json:"-"`
}

// JobState is where a job stands.
type JobState string

// The states of a job. All but the first are final.
const (
	JobRunning JobState = "running"
	// JobExited is a job that ended by itself; Job.Exit says how.
	JobExited JobState = "exited"
	// JobStopped is a job that the model, the user or the end of its agent ended.
	JobStopped JobState = "stopped"
	// JobExpired is a job whose time was over.
	JobExpired JobState = "expired"
	// JobFailed is a job of which it is not known how it ended.
	JobFailed JobState = "failed"
)

// Elapsed is how long the job has run by now, or ran until it ended.
func (j Job) Elapsed(now time.Time) time.Duration {
	if !j.Ended.IsZero() {
		now = j.Ended
	}
	return max(0, now.Sub(j.Started))
}

// JobWait is what a reader of a job's output waits for; the first of its conditions that holds
// ends the wait, and so does the end of the job. The zero value waits for nothing.
type JobWait struct {
	// Pattern is to match a line that was not read yet.
	Pattern *regexp.Regexp
	// Quiet is how long nothing more is to come once something has; 0 means that this ends no wait.
	Quiet time.Duration
	// Limit is how long to wait at most.
	Limit time.Duration
}

// JobOutput is output of a job that was not read before.
type JobOutput struct {
	Job
	// Text is as the job printed it, in whole characters.
	Text string
	// Matched says that a line matches the pattern.
	Matched bool
	// Skipped counts the bytes before Text that were not read and are not kept.
	Skipped int64
	// File holds the output from its beginning, as far as Kept has it; "" while all of it is in
	// memory.
	File string
	Kept int64
}
