package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"acp-agent/tools"
)

// Run runs one call of a tool under any of its names, in the order of the
// pipeline: names, preprocessing, schema, then the tool. A panic of the tool is
// an error, and so is a result that no envelope could carry.
func (r *Runtime) Run(ctx context.Context, tool tools.Tool, name, args string) (*tools.Result, error) {
	entry, ready, err := Prepare(tool, name, args, r.Sess.Env)
	if err != nil {
		return nil, err
	}
	return r.call(ctx, entry.Tool, ready)
}

// Prepare takes a call through the pure stages: names, preprocessing, schema.
func Prepare(tool tools.Tool, name, args string, env tools.Env) (*tools.Entry, tools.Args, error) {
	registry, err := tools.NewRegistry(tool)
	if err != nil {
		return nil, tools.Args{}, err
	}
	entry, raw, err := registry.Resolve(name, json.RawMessage(args), nil)
	if err != nil {
		return nil, tools.Args{}, err
	}
	ready, _, err := entry.Accept(name, raw)
	if err != nil {
		return nil, tools.Args{}, err
	}
	if ready, err = entry.RunPreprocess(ready, env); err != nil {
		return nil, tools.Args{}, err
	}
	if err := entry.Validate(ready); err != nil {
		return nil, tools.Args{}, err
	}
	return entry, ready, nil
}

func (r *Runtime) call(ctx context.Context, tool tools.Tool, args tools.Args) (result *tools.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("tool %s panicked: %v", tool.ID, p)
		}
	}()
	result, err = tool.Run(ctx, r, args)
	if err != nil {
		return result, err
	}
	if result == nil {
		return nil, fmt.Errorf("tool %s returned neither a result nor an error", tool.ID)
	}
	if _, err := json.Marshal(result.Data); err != nil {
		return nil, fmt.Errorf("data of tool %s: %w", tool.ID, err)
	}
	if open := r.OpenSidecars(); open > 0 {
		return nil, fmt.Errorf("tool %s left %d sidecars open", tool.ID, open)
	}
	return result, nil
}

// asToolError returns the *tools.Error that a model would read.
func asToolError(err error) (*tools.Error, bool) {
	var toolError *tools.Error
	ok := errors.As(err, &toolError)
	return toolError, ok
}
