package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// stopGrace is how long a cancelled call waits for its tool before it answers
// without it. It keeps the answer to a cancel well under its 200 ms.
const stopGrace = 50 * time.Millisecond

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
	if r.readsOnly {
		// What nobody was asked about must not run what a repository names (C9).
		r.runtime.SetEnv(command.GitEnv()...)
	}
	if result, ok := r.recall(ctx); ok {
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
	scan := r.look(ctx)
	result, err := r.await(ctx)
	r.compare(ctx, scan, result)
	r.forget(result)
	if errors.Is(context.Cause(ctx), errTimeout) {
		return tools.Errorf(tools.Timeout, "Tool execution timed out after %v seconds", limit.Seconds())
	}
	r.result = result
	if r.result == nil && err == nil {
		r.result = &tools.Result{}
	}
	if err == nil && ctx.Err() == nil {
		r.keep(ctx, r.result, began)
	}
	return err
}

// await runs the tool on its own goroutine and answers without it when the
// tool does not stop in time; what it does later is dropped.
func (r *running) await(ctx context.Context) (*tools.Result, error) {
	ended := make(chan outcome, 1)
	done := make(chan struct{})
	go func() { // ends with the tool; a tool that outlives its call is a stray
		defer close(done)
		result, err := r.guarded(ctx)
		ended <- outcome{result, err}
	}()
	select {
	case o := <-ended:
		return o.result, o.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case o := <-ended:
		return o.result, o.err
	case <-grace.C:
		r.pipeline.strays.add(done)
		return nil, ctx.Err()
	}
}

// guarded turns a panic of the tool into its failure (R7).
func (r *running) guarded(ctx context.Context) (result *tools.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, r.pipeline.panicked(r.Tool, r.ID, v)
		}
	}()
	result, err = r.entry.Run(ctx, r.runtime, r.Args)
	if err != nil && ctx.Err() == nil {
		var known *tools.Error
		if !errors.As(err, &known) {
			r.pipeline.Logger.Error("tool failed", "tool", r.Tool, "call_id", r.ID, "error", err.Error())
			err = &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("%s: %v", r.Tool, err), Err: err}
		}
	}
	return result, err
}
