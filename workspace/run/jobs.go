package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// Bounds of the jobs of a session; tools.Limits has the others.
const (
	// jobMemory is how many bytes of the end of a job's output are kept in memory.
	jobMemory = 256 << 10
	// endedJobs is how many jobs that have ended are kept, with their output: the last ones.
	endedJobs = 50
	// jobPace is how long a reader that waits gathers output before it looks again.
	jobPace = 20 * time.Millisecond
)

// Why a job's context ended.
var (
	errJobStopped = errors.New("the job was stopped")
	errJobsClosed = errors.New("the session has ended")
)

// JobHooks are told what becomes of jobs. None is called once the session closes; nil ones are
// not called at all.
type JobHooks struct {
	// Started is called when a job runs, before the call that started it goes on.
	Started func(tools.Job)
	// Printed is called with each piece of a job's output, in whole characters. While it blocks,
	// so does the job once its pipe is full.
	Printed func(job tools.Job, text string)
	// Ended is called once, after the last Printed.
	Ended func(tools.Job)
}

// Jobs are the commands of a session in the background: who started each, what it printed and
// how it ended. It knows no processes; what runs a job is handed to it. It is safe for
// concurrent use.
//
// Goroutines: one for each job that runs, which ends soon after the job is stopped; Close stops
// all, and wait waits for them.
type Jobs struct {
	hooks  JobHooks
	limits tools.Limits
	file   func() (tools.Sidecar, error)

	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	list   []*job     // in the order of their start
	last   int        // the number of the last one
	closed bool
}

// job is one of them.
type job struct {
	output *jobOutput
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it has ended and all was told

	mu   sync.Mutex
	info tools.Job
	err  error // why it did not start
	// told says that a reader has seen its end.
	told atomic.Bool
}

// snapshot is the job as it is now.
func (j *job) snapshot() tools.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	info := j.info
	info.Printed, _ = j.output.progress()
	return info
}

func newJobs(hooks JobHooks, limits tools.Limits, file func() (tools.Sidecar, error)) *Jobs {
	return &Jobs{hooks: hooks, limits: limits, file: file}
}

// Resume numbers jobs on after those of an earlier process.
func (js *Jobs) Resume(last int) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last = max(js.last, last)
}

// Play notes the job of a call of a recording that is played, in which nothing runs; PlayEnd
// notes its end.
func (js *Jobs) Play(callID string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last++
	js.list = append(js.list, &job{
		info:   tools.Job{ID: fmt.Sprintf("job_%d", js.last), CallID: callID, State: tools.JobRunning},
		cancel: func(error) {}, done: make(chan struct{}), output: &jobOutput{closed: true},
	})
}

// PlayEnd notes the end of a job that Play noted.
func (js *Jobs) PlayEnd(callID string, state tools.JobState) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		j.mu.Lock()
		if j.info.CallID == callID {
			j.info.State = state
		}
		j.mu.Unlock()
	}
}

// Last is the number of the last job.
func (js *Jobs) Last() int {
	js.mu.Lock()
	defer js.mu.Unlock()
	return js.last
}

// work is what runs a job until it ends or ctx does. It calls started once it runs.
type work func(ctx context.Context, started func(), output io.Writer) (tools.Exit, error)

// start starts a job and returns when it runs, or has ended already. A job that did not come to
// run is an error, and is not listed.
func (js *Jobs) start(ctx context.Context, info tools.Job, limit time.Duration, do work) (tools.Job, error) {
	j, jobCtx, err := js.add(info)
	if err != nil {
		return tools.Job{}, err
	}
	started := make(chan struct{})
	js.running.Go(func() { js.run(jobCtx, j, limit, do, sync.OnceFunc(func() { close(started) })) })
	select {
	case <-started:
	case <-j.done:
	case <-ctx.Done():
		j.cancel(context.Cause(ctx))
		<-j.done
	}
	select {
	case <-started:
		return j.snapshot(), nil
	default:
		js.remove(j)
		return tools.Job{}, j.err
	}
}

// add makes room for a job.
func (js *Jobs) add(info tools.Job) (*job, context.Context, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	switch most := js.limits.Jobs; {
	case js.closed:
		return nil, nil, endedError(info.Command)
	case most == 0:
		return nil, nil, tools.Errorf(tools.Unavailable, "no command may run in the background here: the user has set limits.jobs to 0")
	case js.count() >= most:
		return nil, nil, &tools.Error{
			Kind: tools.Unavailable, Message: fmt.Sprintf("%d jobs run in the background, and no more may (limits.jobs)", most),
			Hint: "stop one with job_stop; job_list lists them",
		}
	}
	js.last++
	info.ID, info.State, info.Started = fmt.Sprintf("job_%d", js.last), tools.JobRunning, time.Now().UTC()
	// A job ends with the session and not with the call.
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &job{
		info: info, cancel: cancel, done: make(chan struct{}),
		output: &jobOutput{memory: jobMemory, most: js.limits.JobBytes, open: js.file},
	}
	js.list = append(js.list, j)
	js.forget()
	return j, ctx, nil
}

// count is how many jobs run. The caller holds mu.
func (js *Jobs) count() (n int) {
	for _, j := range js.list {
		if j.snapshot().State == tools.JobRunning {
			n++
		}
	}
	return n
}

// forget drops the first jobs that have ended where there are too many. The caller holds mu.
func (js *Jobs) forget() {
	over := len(js.list) - js.count() - endedJobs
	js.list = slices.DeleteFunc(js.list, func(j *job) bool {
		if over <= 0 || j.snapshot().State == tools.JobRunning {
			return false
		}
		over--
		return true
	})
}

func (js *Jobs) remove(gone *job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.list = slices.DeleteFunc(js.list, func(j *job) bool { return j == gone })
}

// run runs a job to its end.
func (js *Jobs) run(ctx context.Context, j *job, limit time.Duration, do work, started func()) {
	defer close(j.done)
	clock := time.AfterFunc(limit, func() { j.cancel(tools.ErrCommandTime) })
	defer clock.Stop()
	runs := false
	shown := &shownOutput{js: js, job: j}
	exit, err := do(ctx, func() {
		runs = true
		js.tell(func() { js.hooks.started(j.snapshot()) })
		started()
	}, io.MultiWriter(j.output, shown))
	shown.flush()
	j.output.close()
	j.end(ctx, exit, err)
	j.cancel(nil)
	if runs {
		js.tell(func() { js.hooks.ended(j.snapshot()) })
	}
}

// end notes how a job ended.
func (j *job) end(ctx context.Context, exit tools.Exit, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.info.Ended, j.info.Exit, j.err = time.Now(), exit, err
	switch cause := context.Cause(ctx); {
	case err == nil:
		j.info.State = tools.JobExited
	case errors.Is(cause, tools.ErrCommandTime):
		j.info.State = tools.JobExpired
	case cause != nil:
		j.info.State = tools.JobStopped
	default:
		j.info.State = tools.JobFailed
		j.info.Exit.Notes = append(j.info.Exit.Notes, err.Error())
	}
}

// tell calls a hook, unless the session closes.
func (js *Jobs) tell(hook func()) {
	js.mu.Lock()
	closed := js.closed
	js.mu.Unlock()
	if !closed {
		hook()
	}
}

func (h JobHooks) started(job tools.Job) {
	if h.Started != nil {
		h.Started(job)
	}
}

func (h JobHooks) ended(job tools.Job) {
	if h.Ended != nil {
		h.Ended(job)
	}
}

// shownOutput passes a job's output to the hook in whole characters. It is written to by one
// goroutine, which has ended when it is flushed.
type shownOutput struct {
	js   *Jobs
	job  *job
	part []byte
}

// Write implements io.Writer.
func (s *shownOutput) Write(p []byte) (int, error) {
	s.part = append(s.part, p...)
	whole := textcut.Whole(s.part)
	s.show(string(whole))
	s.part = append(s.part[:0], s.part[len(whole):]...)
	return len(p), nil
}

func (s *shownOutput) flush() { s.show(string(s.part)) }

func (s *shownOutput) show(text string) {
	if text != "" && s.js.hooks.Printed != nil {
		s.js.tell(func() { s.js.hooks.Printed(s.job.snapshot(), strings.ToValidUTF8(text, "�")) })
	}
}

// stopAll stops the jobs that satisfy which, without waiting.
func (js *Jobs) stopAll(which func(tools.Job) bool) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if which(j.snapshot()) {
			j.cancel(errJobStopped)
		}
	}
}

// StopAgent stops the jobs of a subagent that has ended. It waits for nothing.
func (js *Jobs) StopAgent(agent string) {
	js.stopAll(func(j tools.Job) bool { return j.Agent == agent })
}

// StopCall stops the job that a call started, and reports whether one was running.
func (js *Jobs) StopCall(callID string) (stopped bool) {
	js.stopAll(func(j tools.Job) bool {
		its := j.CallID == callID && j.State == tools.JobRunning
		stopped = stopped || its
		return its
	})
	return stopped
}

// Close stops all jobs, and returns the ones that ran. None starts after it, and no hook is called.
// The end of the Runner waits for them.
func (js *Jobs) Close() (ran []tools.Job) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.closed = true
	for _, j := range js.list {
		if job := j.snapshot(); job.State == tools.JobRunning {
			ran = append(ran, job)
		}
		j.cancel(errJobsClosed)
	}
	return ran
}

// wait waits, after Close, for the goroutines.
func (js *Jobs) wait() { js.running.Wait() }
