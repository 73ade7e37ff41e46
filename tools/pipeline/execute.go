package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// stopGrace is how long a cancelled call waits for its tool before it answers
// without it. It keeps the answer to a cancel well under its 200 ms.
const stopGrace = 50 * time.Millisecond

// delegateGrace is the same for a call that waits for subagents: each of their calls has
// its own stopGrace, and what they say at their end is to come before the answer.
const delegateGrace = time.Second

// errTimeout is the cause of a context that ended for lack of progress.
var errTimeout = errors.New("tool timed out")

// outcome is what a tool's goroutine hands back.
type outcome struct {
	result *tools.Result
	err    error
}

// execute runs the tool with its time limit (R103). Progress restarts the
// clock; waiting for a permission does not count, for the clock starts here.
func (r *running) execute(ctx context.Context) error {
	r.sink.Emit(transcript.ToolState{CallID: r.ID, State: transcript.InProgress})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var err error
	if r.runtime, err = r.pipeline.runtimeOf(r.Prepared, r.ID, r.sink); err != nil {
		return err
	}
	r.bindTo(r.runtime)
	r.grantSandbox(ctx)
	r.noticeOpen()
	if r.readsOnly {
		// What no one was asked about must not run what a repository names (C9).
		r.runtime.Commands().SetEnv(slices.Concat(r.settings, command.GitEnv())...)
	}
	r.runtime.texts = r.texts
	if result, ok := r.cached(ctx); ok {
		r.result = result
		return nil
	}
	began := r.pipeline.cacheTime()
	limit := r.pipeline.Limits.Timeout
	if r.entry.DisableTimeout || limit <= 0 {
		limit = 0
	}
	var clock *time.Timer
	if limit > 0 {
		clock = time.AfterFunc(limit, func() { cancel(errTimeout) })
		defer clock.Stop()
		r.runtime.OnProgress(func() { clock.Reset(limit) })
	}
	if !r.entry.ReadOnly {
		r.pipeline.changes.Add(1)
		defer r.pipeline.changes.Add(1)
	}
	scan := r.scan(ctx)
	result, err := r.await(ctx)
	r.compare(ctx, scan)
	r.noteLacks()
	r.invalidateCache(result)
	// What was done when the clock ran out is done.
	if late := err != nil || result == nil || result.Partial; late && errors.Is(context.Cause(ctx), errTimeout) {
		return r.timedOut(limit)
	}
	r.result = result
	if r.result == nil && err == nil {
		r.result = &tools.Result{}
	}
	if err == nil {
		r.addRemarks()
	}
	if err == nil && ctx.Err() == nil {
		r.keep(ctx, r.result, began)
	}
	return err
}

// addRemarks tells the model which changes were not made as asked.
func (r *running) addRemarks() {
	if remarks := r.runtime.Remarks(); len(remarks) > 0 {
		r.result.Text = strings.Join(append([]string{r.result.ModelText()}, remarks...), "\n")
	}
}

// timedOut is the error of a call that made no progress for too long (R103).
func (r *running) timedOut(limit time.Duration) error {
	failure := tools.Errorf(tools.Timeout, "Tool execution timed out after %v seconds", limit.Seconds())
	if r.writes() {
		failure.Detail = "It is not known whether the change was made."
	}
	return failure
}

// await runs the tool and answers without it when it does not stop in time; what
// it does later is dropped.
func (r *running) await(ctx context.Context) (*tools.Result, error) {
	ended := make(chan outcome, 1)
	err := r.bounded(ctx, func() {
		result, err := r.guarded(ctx)
		ended <- outcome{result, err}
	})
	if err != nil {
		return nil, err
	}
	o := <-ended
	return o.result, o.err
}

// bounded runs do on a goroutine of its own and waits for it. When ctx ends and
// do does not end soon after, its goroutine is abandoned, and the error is ctx's.
func (r *running) bounded(ctx context.Context, do func()) error {
	done := make(chan struct{})
	go func() { // ends with do
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	limit := stopGrace
	if r.entry.Delegates {
		limit = delegateGrace
	}
	grace := time.NewTimer(limit)
	defer grace.Stop()
	select {
	case <-done:
		return nil
	case <-grace.C:
		r.pipeline.abandoned.add(done)
		return ctx.Err()
	}
}

// guarded turns a panic of the tool into its failure (R7).
func (r *running) guarded(ctx context.Context) (result *tools.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, r.pipeline.panicked(r.Tool, r.ID, v)
		}
	}()
	result, err = r.entry.Run(ctx, r.runtime, r.args)
	if err == nil || ctx.Err() != nil {
		return result, err
	}
	var known *tools.Error
	switch {
	case !errors.As(err, &known):
		r.pipeline.Logger.Error("tool failed", "tool", r.Tool, "call_id", r.ID, "error", kinds.Line(err.Error(), maxLogged))
		err = &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("%s: %v", r.Tool, err), Err: err}
	case r.entry.Foreign():
		err = distrusted(known)
	}
	return result, err
}

// maxLogged bounds what the log holds of an error's text, in characters.
const maxLogged = 500
