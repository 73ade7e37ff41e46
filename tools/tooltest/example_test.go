package tooltest_test

import (
	"context"
	"fmt"
	"path"
	"strings"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

type stampArgs struct {
	Name string `json:"name"`
}

// stamp is a tool that runs a command and writes a file.
func stamp() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "stamp",
		Description: "Writes the commit of the working directory into a file.",
		Aliases:     []tools.Alias{{Name: "Stamp"}},
		Requires: capability.RequirementSet{
			FS:    capability.FS{Write: []string{"{workspace}/**"}},
			Shell: []capability.ShellRun{{Cmd: "git"}},
		},
	}, func(ctx context.Context, rt tools.Runtime, a stampArgs) (*tools.Result, error) {
		var commit strings.Builder
		if _, err := rt.Processes().Run(ctx, tools.ShellCommand{Text: "git rev-parse HEAD", Dir: rt.Session().Cwd}, &commit); err != nil {
			return nil, tools.Errorf(tools.Backend, "stamp: %v", err)
		}
		if err := rt.FS().WriteText(ctx, path.Join(rt.Session().Cwd, a.Name), commit.String(), nil); err != nil {
			return nil, tools.Errorf(tools.Backend, "stamp: %v", err)
		}
		return tools.Output("stamped"), nil
	})
}

// A runtime in memory runs a tool without a disk, a process or a user.
func ExampleRuntime_Run() {
	rt := tooltest.New(tooltest.Options{
		Processes: []tooltest.Script{{Cmd: "git rev-parse HEAD", Output: []string{"1f2e3d\n"}}},
	})
	result, err := rt.Run(context.Background(), stamp(), "Stamp", `{"name": "version.txt"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := rt.Mem.Get("version.txt")
	fmt.Printf("%s: %s", result.ModelText(), text)

	_, err = rt.Run(context.Background(), stamp(), "stamp", `{"file": "version.txt"}`)
	fmt.Println(err)
	// Output:
	// stamped: 1f2e3d
	// stamp: required argument "name" is missing
}

// A scenario says what a call finds and what it must leave, and can be read from JSON.
func ExampleScenario() {
	outcome := tooltest.Scenario{
		Tool:          "stamp",
		Args:          map[string]any{"name": "version.txt"},
		Processes:     []tooltest.Script{{Output: []string{"1f2e3d\n"}}},
		ExpectedFiles: []tooltest.ExpectedFile{{Path: "version.txt", Content: "1f2e3d\n"}},
		ExpectedCalls: []tooltest.ExpectedCall{{Cmd: "git rev-parse HEAD"}},
	}.Run(context.Background(), stamp())
	fmt.Println(outcome.Passed, outcome.Errors)
	// Output:
	// true []
}

// Check lists the rules of the tool contract that a tool breaks.
func ExampleCheck() {
	fmt.Println(strings.Join(tooltest.Check(stamp()), "\n"))
	// Output:
	// argument "name" has no description
	// it declares no kind
}
