package agenttest

import (
	"context"
	"errors"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// EnvTools names the variable that has the program of a test offer oddTools besides its own tools.
const EnvTools = "ACP_TEST_FOREIGN_TOOLS"

// oddTools are tools as other people write them: from other sources, odd,
// and broken.
func oddTools() []tools.Tool {
	return []tools.Tool{
		newCountFiles(),
		newMeets(),
		newNeedsParam(),
		elsewhere("mcp__fake__look", tools.Source{Kind: tools.MCP, Server: "fake"}),
		elsewhere("tb__all", tools.Source{Kind: tools.Toolbox}, "all"),
		elsewhere("tb__fix", tools.Source{Kind: tools.Toolbox}, "fix"),
		odd("no_schema", func(context.Context, tools.Runtime) (*tools.Result, error) { return tools.Output("worked"), nil }),
		odd("panics", func(context.Context, tools.Runtime) (*tools.Result, error) { panic("a bug in the tool") }),
		odd("large", func(context.Context, tools.Runtime) (*tools.Result, error) {
			return tools.Output(strings.Repeat("0123456789abcde\n", 150<<10/16)), nil
		}),
		odd("huge", func(context.Context, tools.Runtime) (*tools.Result, error) {
			return tools.Output(strings.Repeat("0123456789abcde\n", 100<<20/16)), nil
		}),
		odd("deaf", func(context.Context, tools.Runtime) (*tools.Result, error) {
			time.Sleep(3 * time.Second) // whatever its context says
			return tools.Output("too late"), nil
		}),
		odd("slow_with_progress", func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
			for range 6 {
				select {
				case <-time.After(200 * time.Millisecond):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				rt.Progress([]byte("."))
			}
			return tools.Output("slow, but it moved"), nil
		}),
		odd("slow_without_progress", func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		odd("coded_failure", func(_ context.Context, rt tools.Runtime) (*tools.Result, error) {
			return nil, &tools.Error{
				Kind: tools.Backend, Code: "disk-full", Path: rt.Session().Abs("a.txt"), Message: "no room for a.txt",
				Err: errors.New("no space left"),
			}
		}),
	}
}

func elsewhere(id string, source tools.Source, types ...string) tools.Tool {
	tool := odd(id, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return tools.Output("from elsewhere"), nil
	})
	tool.Source, tool.SubagentTypes, tool.Kind = source, types, kinds.Search
	return tool
}

func odd(id string, run func(context.Context, tools.Runtime) (*tools.Result, error)) tools.Tool {
	return tools.Tool{
		Spec: tools.Spec{ID: id, Description: "A tool of the tests: " + strings.ReplaceAll(id, "_", " ") + "."},
		Run: func(ctx context.Context, rt tools.Runtime, _ tools.Args) (*tools.Result, error) {
			return run(ctx, rt)
		},
	}
}

// newMeets reads a path, and ends only when two calls of it run at once.
func newMeets() tools.Tool {
	meeting := make(chan struct{})
	tool := odd("meets", func(ctx context.Context, _ tools.Runtime) (*tools.Result, error) {
		select {
		case meeting <- struct{}{}:
		case <-meeting:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return tools.Output("met"), nil
	})
	tool.Profile = &tools.Profile{Keys: func(args tools.Args, env tools.Env) []tools.ResourceKey {
		return []tools.ResourceKey{{Key: env.Abs(args.Text("path"))}}
	}}
	return tool
}

// needsParamArgs are the arguments of the module seed's canonical tool.
type needsParamArgs struct {
	RequiredParam string `json:"required_param" jsonschema:"Description of parameter"`
	OptionalParam int    `json:"optional_param,omitempty" jsonschema:"Another one"`
}

// newNeedsParam refuses an empty required_param itself, as the seed's does.
func newNeedsParam() tools.Tool {
	return tools.Define(tools.Spec{
		ID: "needs_param", Description: "Performs specific action with given parameters.",
	}, func(_ context.Context, _ tools.Runtime, args needsParamArgs) (*tools.Result, error) {
		if args.RequiredParam == "" {
			return nil, tools.Errorf(tools.BadInput, "required_param is required")
		}
		return tools.Output(args.RequiredParam), nil
	})
}

// countFilesArgs are the arguments of count_files.
type countFilesArgs struct {
	Pattern string `json:"pattern" jsonschema:"Glob pattern, such as *.go"`
}

// newCountFiles is the file counter of the tool seed, as docs/write-a-tool.md
// shows it.
func newCountFiles() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "count_files",
		Description: "Count the files of the working directory whose name matches a pattern.",
		Requires:    capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}"}}},
		Profile:     &tools.Profile{},
		ReadOnly:    true,
	}, func(ctx context.Context, rt tools.Runtime, args countFilesArgs) (*tools.Result, error) {
		entries, _, err := rt.FS().List(ctx, rt.Session().Cwd, 10_000)
		if err != nil {
			return nil, err
		}
		n := 0
		for _, entry := range entries {
			if capability.MatchPath("/"+args.Pattern, "/"+entry.Name) && !entry.IsDir {
				n++
			}
		}
		return tools.Output(map[string]int{"count": n}), nil
	})
}
