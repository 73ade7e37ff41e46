package mount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"acp-agent/tools"
)

// badInput executes a module with arguments that its schema forbids, as they
// would reach it if no one had checked them, and expects a failed result: not a
// success, and not a crash (R164).
func (v *validation) badInput(ctx context.Context, tool tools.Tool) {
	name := tool.ID + ": errors"
	switch {
	case v.o.Runtime == nil:
		v.warn(name, "not executed, so it is not known how it takes faulty arguments")
		return
	case tool.Parameters == nil || len(tool.Parameters.Required) == 0:
		v.pass(name, "no argument is required")
		return
	}
	wrong := map[string]any{}
	for _, required := range tool.Parameters.Required {
		wrong[required] = wrongValue(tool, required)
	}
	text, err := json.Marshal(wrong)
	if err != nil {
		v.fail(name, "%v", err)
		return
	}
	took, err := v.execute(ctx, tool, json.RawMessage(`{}`))
	if err == nil && took {
		err = errors.New("it succeeds with the arguments {}, which its schema forbids")
	}
	if err == nil {
		// A script may well take a value of the wrong type for text, but it must not
		// crash.
		_, err = v.execute(ctx, tool, text)
	}
	if err != nil {
		v.fail(name, "%v", err)
		return
	}
	v.pass(name, "faulty arguments are a failed result")
}

// wrongValue is a value that is not of the argument's type.
func wrongValue(tool tools.Tool, argument string) any {
	if schema := tool.Parameters.Properties[argument]; schema != nil && schema.Type == "object" {
		return 7
	}
	return map[string]any{"wrong": "type"}
}

// execute reports whether the module took the arguments for good ones. The error
// says that it neither took nor refused them.
func (v *validation) execute(ctx context.Context, tool tools.Tool, args json.RawMessage) (took bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panics with the arguments %s: %v", args, p)
		}
	}()
	rt, finish := v.o.Runtime("validate", tool.ID)
	defer finish()
	if _, err = tool.Run(ctx, rt, tools.NewArgs(args)); err == nil {
		return true, nil
	}
	var failure *tools.Error
	switch {
	case !errors.As(err, &failure):
		return false, fmt.Errorf("it cannot be executed: %w", err)
	case failure.Kind == tools.Unavailable || failure.Kind == tools.Timeout || failure.Code == crashed:
		return false, fmt.Errorf("with the arguments %s: %w", args, failure)
	}
	return false, nil
}
