package mount

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/tools/stream"
)

// errTooSlow is the cause of a context that ended at timeout_ms.
var errTooSlow = errors.New("module timed out")

// run is one call of a local module.
func (l *localTool) run(ctx context.Context, rt tools.Runtime, args tools.Args) (*tools.Result, error) {
	path, err := l.executable()
	if err != nil {
		return nil, &tools.Error{Kind: tools.Unavailable, Message: "the tool's executable cannot be trusted any more: " + err.Error(), Err: err}
	}
	if l.manifest.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(l.manifest.TimeoutMS)*time.Millisecond, errTooSlow)
		defer cancel()
	}
	stdin := []byte(args.Raw())
	if l.manifest.lines != nil {
		if stdin, err = asLines(l.manifest.lines, args.Raw()); err != nil {
			return nil, err
		}
	}
	l.called.Store(true)
	stdout, stderr := stream.New(rt), stream.New(rt)
	defer stdout.Close()
	defer stderr.Close()
	exit, err := rt.Processes().Exec(ctx, tools.Program{
		Args: l.argv(path, actionExecute), Dir: rt.Session().Cwd, Env: l.env(actionExecute, rt.Session().ID), Stdin: stdin,
		Stderr: io.MultiWriter(stderr, progress{rt}),
	}, stdout)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errTooSlow):
		return nil, tools.Errorf(tools.Timeout, "Tool execution timed out after %d ms", l.manifest.TimeoutMS)
	case err != nil:
		return nil, err
	case exit.Code != 0 || exit.Signal != "":
		return nil, l.failed(exit, stdout, stderr)
	}
	return result(stdout)
}

// progress shows what a program says beside its result.
type progress struct{ rt tools.Runtime }

func (p progress) Write(text []byte) (int, error) {
	p.rt.Progress(text)
	return len(text), nil
}

// result is what a program that ended well said.
func result(stdout *stream.Stream) (*tools.Result, error) {
	if whole, ok := stdout.Whole(); ok {
		outcome, known, err := bridge.Recognise(whole)
		switch {
		case err != nil:
			return nil, &tools.Error{Kind: tools.Backend, Message: "the tool's answer is not well-formed: " + err.Error(), Detail: shown(stdout), Err: err}
		case known:
			return outcome.Result()
		}
	}
	text, path := stdout.Text()
	return &tools.Result{Data: strings.TrimSuffix(text, "\n"), Truncated: path != "" || stdout.Cut(), OutputPath: path}, nil
}

// failed is a program that ended badly. When it still answered with a failure,
// that is the failure; else it is what it wrote to its standard error.
func (l *localTool) failed(exit tools.Exit, stdout, stderr *stream.Stream) error {
	if whole, ok := stdout.Whole(); ok {
		if outcome, known, err := bridge.Recognise(whole); known && err == nil {
			var failure *tools.Error
			if _, err := outcome.Result(); errors.As(err, &failure) {
				return failure
			}
		}
	}
	e := &tools.Error{Kind: tools.Backend, Code: "exit-code", Message: fmt.Sprintf("%s failed with exit code %d", l.manifest.Name, exit.Code)}
	if exit.Signal != "" {
		e.Code, e.Message = crashed, fmt.Sprintf("%s was ended by signal %s", l.manifest.Name, exit.Signal)
	}
	e.Detail = shown(stderr)
	if e.Detail == "" {
		e.Detail = shown(stdout)
	}
	return e
}

// crashed is the code of a failure that the program did not mean.
const crashed = "crashed"

// shown is a stream for an error's text.
func shown(s *stream.Stream) string {
	text, path := s.Text()
	text = strings.TrimSpace(text)
	if path != "" {
		text += "\nThe whole of it is in " + path
	}
	return text
}
