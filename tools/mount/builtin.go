package mount

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// limits are the config keys that every built-in tool has.
type limits struct {
	// MaxSize bounds, in bytes, the files that the tool opens or writes and what it
	// returns; 0 means that the session's limits stand.
	MaxSize int64
	// AllowedPaths are the only paths that calls may name, with what lies beneath
	// them; nil means that the session's directories stand.
	AllowedPaths []string
}

// Builtin is the module of a tool that the agent has already (R8). Its config
// has two keys, which can only narrow what the tool does: max_size and
// allowed_paths. Any other key is an error that names these.
func Builtin(tool tools.Tool) Module {
	return func(_ context.Context, _ *Coordinator, config json.RawMessage) (Mounted, error) {
		l, err := parseLimits(config)
		if err != nil {
			return Mounted{}, fmt.Errorf("config: %w", err)
		}
		if l.MaxSize == 0 && l.AllowedPaths == nil {
			return Mounted{Tool: &tool}, nil // as it is: nothing stands before its calls
		}
		if l.AllowedPaths != nil {
			if err := confinable(tool); err != nil {
				return Mounted{}, fmt.Errorf("config: allowed_paths: %w", err)
			}
		}
		registry, err := tools.NewRegistry(tool)
		if err != nil {
			return Mounted{}, err
		}
		entry, _ := registry.Get(tool.ID)
		narrowed := l.narrow(entry)
		return Mounted{Tool: &narrowed}, nil
	}
}

// Builtins is the table of the modules of the agent's own tools, by id.
func Builtins(list []tools.Tool) map[string]Module {
	table := map[string]Module{}
	for _, tool := range list {
		table[tool.ID] = Builtin(tool)
	}
	return table
}

// Names are all ids and aliases of tools, for Options.Taken.
func Names(list []tools.Tool) []string {
	var names []string
	for _, tool := range list {
		names = append(names, toolNames(tool)...)
	}
	return names
}

func parseLimits(config json.RawMessage) (limits, error) {
	var l limits
	if len(bytes.TrimSpace(config)) == 0 {
		return l, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(config, &keys); err != nil {
		return l, errors.New("must be an object")
	}
	for key, raw := range keys {
		switch key {
		case "max_size":
			if err := strictly(raw, &l.MaxSize); err != nil || l.MaxSize <= 0 {
				return l, fmt.Errorf("max_size must be a number of bytes above 0, not %.80s", raw)
			}
		case "allowed_paths":
			if err := strictly(raw, &l.AllowedPaths); err != nil || l.AllowedPaths == nil {
				return l, fmt.Errorf("allowed_paths must be a list of paths, not %.80s", raw)
			}
		default:
			return l, fmt.Errorf("unknown key %q; built-in tools have max_size and allowed_paths", key)
		}
	}
	for _, path := range l.AllowedPaths {
		if strings.TrimSpace(path) == "" {
			return l, errors.New("allowed_paths: a path is empty")
		}
	}
	return l, nil
}

func strictly(raw json.RawMessage, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(to); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// confinable refuses tools whose reach is not in the paths that their calls
// name: allowed_paths would promise what it cannot keep.
func confinable(tool tools.Tool) error {
	switch {
	case tool.Resources == nil:
		return fmt.Errorf("%s touches no paths", tool.ID)
	case len(tool.Requires.Shell) > 0 || slices.Contains(tool.Requires.Capabilities, capability.CapShellRun):
		return fmt.Errorf("%s runs commands, whose reach no list of paths can bound", tool.ID)
	}
	return nil
}

// narrow wraps the tool. Paths are judged before the user is asked, and again
// when the call runs. What the tool requires stays as it is: which workspace there
// will be is not known yet.
func (l limits) narrow(entry *tools.Entry) tools.Tool {
	tool := entry.Tool
	narrowed := tool
	if l.AllowedPaths != nil {
		narrowed.Preprocess = func(args map[string]any, env tools.Env) error {
			if tool.Preprocess != nil {
				if err := tool.Preprocess(args, env); err != nil {
					return err
				}
			}
			raw, err := json.Marshal(args)
			if err != nil {
				return err
			}
			ready := tools.NewArgs(raw)
			if entry.Validate(ready) != nil {
				return nil // the next stage says what is wrong
			}
			return l.check(tool, ready, env)
		}
	}
	narrowed.Run = func(ctx context.Context, rt tools.Runtime, args tools.Args) (*tools.Result, error) {
		if l.AllowedPaths != nil {
			if err := l.check(tool, args, rt.Session().Env); err != nil {
				return nil, err
			}
		}
		result, err := tool.Run(ctx, l.runtime(rt), args)
		if err == nil && result != nil && !tool.OwnLimit {
			l.cut(rt, result)
		}
		return result, err
	}
	if tool.Preview != nil {
		narrowed.Preview = func(ctx context.Context, rt tools.Runtime, args tools.Args) ([]kinds.Content, error) {
			return tool.Preview(ctx, l.runtime(rt), args)
		}
	}
	return narrowed
}

// check refuses a call that names a path outside the allowed ones, links
// resolved.
func (l limits) check(tool tools.Tool, args tools.Args, env tools.Env) error {
	for _, resource := range tool.Resources(args, env) {
		if resource.Kind != tools.PathRead && resource.Kind != tools.PathWrite {
			return &tools.Error{
				Kind: tools.Denied, DeniedBy: tools.DeniedByCapability,
				Message: fmt.Sprintf("%s is confined to paths, and this call touches more than paths", tool.ID),
			}
		}
		abs := env.Abs(resource.Value)
		if !slices.ContainsFunc(l.AllowedPaths, func(dir string) bool { return pathname.Contains(env.Real(dir), env.Real(abs)) }) {
			return &tools.Error{
				Kind: tools.Denied, DeniedBy: tools.DeniedByCapability, Path: abs,
				Message: fmt.Sprintf("%s may not touch %s", tool.ID, abs),
				Detail:  "its allowed_paths are " + strings.Join(l.AllowedPaths, ", "),
			}
		}
	}
	return nil
}
