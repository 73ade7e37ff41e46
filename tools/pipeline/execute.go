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
	"acp-agent/workspace/run"
)

// errTimeout is the cause of a context that ended for lack of progress.
var errTimeout = errors.New("tool timed out")

// outcome is what the goroutine of a tool returns.
type outcome struct {
	result *tools.Result
	err    error
}

// execution runs the tool.
type execution struct {
	*sharedState
	judgement   *judgement
	access      *commandAccess
	sandboxing  *sandboxing
	cache       cacheUse
	connections *connections
	runtime     *callRuntime
	result      *tools.Result
	// notScanned says why the changes of a command were not looked for everywhere; "" means that they were.
	notScanned string
	// remarks are added to the result.
	remarks []string
}

// execute runs the tool with its time limit (R103). Progress restarts the clock, which starts only
// here: the wait for the user does not count.
func (e *execution) execute(ctx context.Context) error {
	e.sink.Emit(transcript.ToolState{CallID: e.ID, State: transcript.InProgress})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := e.openRuntime(ctx); err != nil {
		return err
	}
	if result, ok := e.cache.cached(ctx, e.runtime); ok {
		e.result = result
		return nil
	}
	began := e.pipeline.cacheTime()
	limit := e.timeLimit()
	if limit > 0 {
		clock := time.AfterFunc(limit, func() { cancel(errTimeout) })
		defer clock.Stop()
		e.runtime.OnProgress(func() { clock.Reset(limit) })
	}
	if !e.entry.ReadOnly {
		e.pipeline.changes.Add(1)
		defer e.pipeline.changes.Add(1)
	}
	scan := e.scan(ctx)
	result, err := e.await(ctx)
	e.compare(ctx, scan)
	e.access.noteShortage(e.runtime.Commands())
	e.cache.invalidate(result)
	// The clock may run out just as the tool ends: a complete result counts all the same.
	complete := err == nil && result != nil && !result.Partial
	if !complete && errors.Is(context.Cause(ctx), errTimeout) {
		return e.timedOut(limit)
	}
	e.result = result
	if err != nil {
		return err
	}
	if e.result == nil {
		e.result = &tools.Result{}
	}
	e.addRemarks()
	if ctx.Err() == nil {
		e.cache.store(ctx, e.runtime, e.result, began)
	}
	return nil
}

// openRuntime makes the runtime of the call, bound to what was judged. It may ask the user about the login of gh, which gh
// gets when it starts or not at all.
func (e *execution) openRuntime(ctx context.Context) (err error) {
	if e.runtime, err = e.pipeline.runtimeOf(e.Prepared, e.ID, e.sink); err != nil {
		return err
	}
	e.judgement.bindTo(e.runtime)
	grant := e.grant(ctx)
	e.runtime.Commands().Grant(grant) // without a login, which depends on what network the commands get
	if grant.LoginEnv, err = e.gitHubLogin(ctx); err != nil {
		return err
	}
	e.runtime.Commands().Grant(grant)
	e.access.noticeOpenSecrets()
	if e.access.readsOnly {
		// A command that runs without a question must not run the programs that a repository names (C9).
		env := slices.Concat(e.access.settings, command.GitEnv())
		if e.access.showsMachine() {
			env = slices.Concat(command.MachineEnv(), env)
		}
		e.runtime.Commands().SetEnv(env...)
	}
	for _, closed := range e.access.closed {
		e.remarks = append(e.remarks, "Commands do not see "+closed+". The tools that read find what is there.")
	}
	e.runtime.texts = e.access.texts
	return nil
}

// timeLimit returns how long the tool may go without progress; 0 means no limit.
func (e *execution) timeLimit() time.Duration {
	if e.entry.DisableTimeout {
		return 0
	}
	return max(0, e.pipeline.Limits.Timeout)
}

// grant returns the rights of the tool's commands, with the function that decides about their connections.
func (e *execution) grant(ctx context.Context) run.Grant {
	grant := e.sandboxing.grant(ctx)
	if !e.pipeline.restricted && !e.entry.ReadOnly {
		grant.Connect, grant.ConnectLater = e.connections.connect, e.connections.connectLater
		grant.Login = e.login
	}
	return grant
}

// addRemarks adds to the result what the tool cannot know: that a change was made in another way than it asked for, or what
// its commands ran without.
func (e *execution) addRemarks() {
	if remarks := append(e.runtime.Remarks(), e.remarks...); len(remarks) > 0 {
		e.result.Text = strings.Join(append([]string{e.result.ModelText()}, remarks...), "\n")
	}
}

// timedOut is the error of a call that made no progress for too long (R103).
func (e *execution) timedOut(limit time.Duration) error {
	failure := tools.Errorf(tools.Timeout, "Tool execution timed out after %v seconds", limit.Seconds())
	if e.writes() {
		failure.Detail = "It is not known whether the change was made."
	}
	return failure
}

// await runs the tool. It returns without the tool's result when the tool does not stop in time after
// ctx ends; a late result is dropped.
func (e *execution) await(ctx context.Context) (*tools.Result, error) {
	ended := make(chan outcome, 1)
	err := e.bounded(ctx, func() {
		result, err := e.guarded(ctx)
		ended <- outcome{result, err}
	})
	if err != nil {
		return nil, err
	}
	o := <-ended
	return o.result, o.err
}

// guarded turns a panic of the tool into its failure (R7).
func (e *execution) guarded(ctx context.Context) (result *tools.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, e.pipeline.panicked(e.Tool, e.ID, v)
		}
	}()
	result, err = e.entry.Run(ctx, e.runtime, e.args)
	if err == nil || ctx.Err() != nil {
		return result, err
	}
	var known *tools.Error
	switch {
	case !errors.As(err, &known):
		e.pipeline.Logger.Error("tool failed", "tool", e.Tool, "call_id", e.ID, "error", kinds.Line(err.Error(), maxLogged))
		err = &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("%s: %v", e.Tool, err), Err: err}
	case e.entry.Foreign():
		err = distrusted(known)
	}
	return result, err
}

// maxLogged bounds what the log holds of an error's text, in characters.
const maxLogged = 500
