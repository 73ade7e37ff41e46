package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/tools"
)

// Bounds of the jobs of a session; tools.Limits has the others.
const (
	// jobMemory is how many bytes of the end of a job's output are kept in memory.
	jobMemory = 256 << 10
	// endedJobs is how many jobs that have ended are kept, with their output: the last ones.
	endedJobs = 50
	// jobPace is how long a waiting reader lets output gather before it looks again.
	jobPace = 20 * time.Millisecond
)

// Why a job's context ended.
var (
	errJobStopped = errors.New("the job was stopped")
	errJobsClosed = errors.New("the session has ended")
)

// Jobs are the commands of a session in the background: for each, the call that started it, its output and
// how it ended. Jobs starts no processes: the caller of start passes the function that runs the job. It is safe
// for concurrent use.
//
// Goroutines: two for each job that runs, one of which looks at its ports. They end soon after the
// job is stopped. Close stops all jobs, and wait waits for their goroutines.
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

// job is one command in the background.
type job struct {
	output *jobOutput
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it has ended and all hooks have returned

	mu   sync.Mutex
	info tools.Job
	err  error // why it did not start

	// portsMu guards what follows, and is held during the hook about a change of the ports.
	portsMu  sync.Mutex
	network  jobNetwork
	forwards map[int]*forward // by the port of the job

	// endReported says that an agent has read of the end, or has stopped the job itself.
	endReported atomic.Bool
}

// snapshot returns the job as it is now.
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

// Resume continues the numbers of jobs after the last one of an earlier process.
func (js *Jobs) Resume(last int) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.last = max(js.last, last)
}

// Last returns the number of the last job.
func (js *Jobs) Last() int {
	js.mu.Lock()
	defer js.mu.Unlock()
	return js.last
}

// work runs the command of a job until it ends or ctx does. It calls started when the command runs.
type work func(ctx context.Context, started func(jobNetwork), output io.Writer) (tools.Exit, error)

// start starts a job and returns when it runs, or has ended already. A job that never ran is an
// error, and is not listed.
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

// add adds a job to the list, unless as many run as may.
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
		output: &jobOutput{memoryLimit: jobMemory, fileLimit: js.limits.JobBytes, open: js.file},
	}
	js.list = append(js.list, j)
	js.forget()
	return j, ctx, nil
}

// count returns how many jobs run. The caller holds mu.
func (js *Jobs) count() (n int) {
	for _, j := range js.list {
		if j.snapshot().State == tools.JobRunning {
			n++
		}
	}
	return n
}

// forget drops the oldest ended jobs if there are too many. The caller holds mu.
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

// run runs a job to its end, and calls the hooks.
func (js *Jobs) run(ctx context.Context, j *job, limit time.Duration, do work, started func()) {
	defer close(j.done)
	clock := time.AfterFunc(limit, func() { j.cancel(tools.ErrCommandTime) })
	defer clock.Stop()
	runs := false
	var watching sync.WaitGroup
	shown := &shownOutput{js: js, job: j}
	exit, err := do(ctx, func(network jobNetwork) {
		j.enterNetwork(network)
		if runs { // started again, because a terminal of the client could not start it
			return
		}
		runs = true
		js.callHook(func() { js.hooks.started(j.snapshot()) })
		watching.Go(func() { js.watchPorts(ctx, j) })
		started()
	}, io.MultiWriter(j.output, shown))
	shown.flush()
	j.output.close()
	j.end(ctx, exit, err)
	j.cancel(nil)
	watching.Wait()
	if runs {
		js.callHook(func() { js.hooks.ended(j.snapshot()) })
	}
}

// end records how a job ended.
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

// StopAgent stops the jobs of a subagent that has ended, without waiting.
func (js *Jobs) StopAgent(agent string) {
	js.stopAll(func(j tools.Job) bool { return j.Agent == agent })
}

// StopCall stops the job that a call started, and reports whether one was running.
func (js *Jobs) StopCall(callID string) (stopped bool) {
	js.stopAll(func(j tools.Job) bool {
		stops := j.CallID == callID && j.State == tools.JobRunning
		stopped = stopped || stops
		return stops
	})
	return stopped
}

// Close stops all jobs, and returns the ones that were running. After it no job starts and no hook is called.
// It does not wait: [Runner.Close] does.
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

// wait waits for the goroutines of jobs, after Close.
func (js *Jobs) wait() { js.running.Wait() }
