package run

import (
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// JobHooks are called while jobs run and when they end. A nil hook is not called, and none is called once the session
// closes.
type JobHooks struct {
	// Started is called when a job runs, before the call that started it continues.
	Started func(tools.Job)
	// Printed is called with each piece of a job's output, in whole characters. While it blocks,
	// so does the job once its pipe is full.
	Printed func(job tools.Job, text string)
	// Listens is called when the ports on which a job listens have changed, or the ports of the machine that
	// lead to them. It is not called when they go because the job ends.
	Listens func(tools.Job)
	// Forwards is called when a port of the machine is opened to one of a job, and when it is closed, also when the job
	// ends and, unlike the others, while the session closes.
	Forwards func(Forwarding)
	// Ended is called once, after the last Printed and Listens.
	Ended func(tools.Job)
}

// Forwarding is a port of the machine's loopback address that was opened to one of a job, or closed again.
type Forwarding struct {
	Job            tools.Job
	Port, HostPort int // of the job, and of the machine
	Open           bool
	ByUser         bool // the user said so; else the job has ended
}

// callHook calls a hook, unless the session closes.
func (js *Jobs) callHook(hook func()) {
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

func (h JobHooks) listens(job tools.Job) {
	if h.Listens != nil {
		h.Listens(job)
	}
}

func (h JobHooks) forwards(f Forwarding) {
	if h.Forwards != nil {
		h.Forwards(f)
	}
}

func (h JobHooks) ended(job tools.Job) {
	if h.Ended != nil {
		h.Ended(job)
	}
}

// shownOutput passes a job's output to the hook Printed in whole characters. One goroutine writes to it, and
// has ended when flush is called.
type shownOutput struct {
	js   *Jobs
	job  *job
	text textcut.Splitter
}

// Write implements io.Writer.
func (s *shownOutput) Write(p []byte) (int, error) {
	s.show(s.text.Add(p))
	return len(p), nil
}

func (s *shownOutput) flush() { s.show(s.text.Flush()) }

func (s *shownOutput) show(text string) {
	if text != "" && s.js.hooks.Printed != nil {
		s.js.callHook(func() { s.js.hooks.Printed(s.job.snapshot(), text) })
	}
}
