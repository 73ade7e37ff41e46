package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed check.md
var checkPrompt string

const (
	// checkBytes and checkTail bound what is returned of a check's output: bytes
	// in all, and characters of its end.
	checkBytes, checkTail = 20 << 10, 10 << 10
)

// Check is a command that says whether the project is in order, from the user's
// configuration and never from the project's.
type Check struct {
	// Name is what people call it, such as "test"; unique.
	Name string
	// Cmd is a command for the shell. Exit code 0 means that all is well.
	Cmd string
}

type checkArgs struct {
	Name string `json:"name"`
}

// checkData is the data of a run (R96).
type checkData struct {
	Checks []checkOutcome `json:"checks"`
	OK     bool           `json:"ok"`
}

// checkOutcome is how one check went. ExitCode is nil for one that was stopped.
type checkOutcome struct {
	Name       string `json:"name"`
	Cmd        string `json:"cmd"`
	ExitCode   *int   `json:"exit_code"`
	Signal     string `json:"signal,omitempty"`
	OK         bool   `json:"ok"`
	Output     string `json:"output"`
	Truncated  bool   `json:"truncated,omitempty"`
	OutputPath string `json:"output_path,omitempty"`
}

// checking is the tool with the checks of the configuration.
type checking struct{ checks []Check }

// newCheck is the tool that runs the configured checks one after the other, with
// no time limit (R96, R103).
func newCheck(checks []Check) tools.Tool {
	c := checking{checks}
	return tools.Define(tools.Spec{
		ID:             "check",
		Description:    prompt(checkPrompt),
		Kind:           kinds.Execute,
		Label:          "Run checks",
		Default:        capability.AllowTrusted | capability.AllowSandboxed,
		Parameters:     object(text("name?", "Run only the check of this name.")),
		Requires:       capability.RequirementSet{Capabilities: []string{capability.CapShellRun}},
		Aliases:        []tools.Alias{{Name: "Check"}},
		Resources:      c.resources,
		Profile:        &tools.Profile{Serial: true},
		Preview:        tools.Previewing("check", c.preview),
		DisableTimeout: true,
		Lacks: func(tools.Services) string {
			if len(checks) == 0 {
				return "no checks are configured: set checks"
			}
			return ""
		},
	}, c.run)
}

// resources are the commands, so that rules judge each of them.
func (c checking) resources(args tools.Args, env tools.Env) []tools.Resource {
	a, err := tools.Decode[checkArgs](context.Background(), args)
	if err != nil {
		return nil
	}
	var resources []tools.Resource
	for _, check := range c.named(a.Name) {
		resources = append(resources, tools.Resource{Kind: tools.Command, Value: check.Cmd, Dir: env.Cwd})
	}
	return resources
}

// named are the checks that a call runs.
func (c checking) named(name string) []Check {
	if name == "" {
		return c.checks
	}
	i := slices.IndexFunc(c.checks, func(check Check) bool { return check.Name == name })
	if i < 0 {
		return nil
	}
	return c.checks[i : i+1]
}

// chosen is named with the error that the model reads when there is none.
func (c checking) chosen(name string) ([]Check, error) {
	if len(c.checks) == 0 {
		return nil, &tools.Error{
			Kind: tools.Unavailable, Message: "check: no checks are configured",
			Detail: `The user sets them under "checks" in the configuration.`, Hint: "Until then run the project's own commands with bash.",
		}
	}
	checks := c.named(name)
	if len(checks) == 0 {
		var names []string
		for _, check := range c.checks {
			names = append(names, check.Name)
		}
		return nil, tools.Errorf(tools.BadInput, "check: there is no check %q; there are %s", name, strings.Join(names, ", "))
	}
	return checks, nil
}

// preview shows the commands, which the arguments do not tell.
func (c checking) preview(_ context.Context, _ tools.Runtime, a checkArgs) ([]kinds.Content, error) {
	checks, err := c.chosen(a.Name)
	if err != nil {
		return nil, err
	}
	var card strings.Builder
	for _, check := range checks {
		fmt.Fprintf(&card, "**%s**\n\n%s\n\n", check.Name, kinds.Fence("sh", kinds.Visible(check.Cmd)))
	}
	return []kinds.Content{kinds.Text{Text: strings.TrimSpace(card.String())}}, nil
}

func (c checking) run(ctx context.Context, rt tools.Runtime, a checkArgs) (*tools.Result, error) {
	checks, err := c.chosen(a.Name)
	if err != nil {
		return nil, err
	}
	data := checkData{Checks: []checkOutcome{}, OK: true}
	for _, check := range checks {
		outcome, err := runCheck(ctx, rt, check)
		if err != nil {
			return nil, err
		}
		data.Checks = append(data.Checks, outcome)
		data.OK = data.OK && outcome.OK
		if ctx.Err() != nil {
			break
		}
	}
	return checkResult(data, len(checks), ctx.Err() != nil), nil
}

// runCheck runs one check. Its output is shown while it comes.
func runCheck(ctx context.Context, rt tools.Runtime, check Check) (checkOutcome, error) {
	outcome := checkOutcome{Name: check.Name, Cmd: check.Cmd}
	if ctx.Err() != nil {
		return outcome, nil
	}
	rt.Progress([]byte("$ " + check.Cmd + "\n"))
	output := newCollector(rt)
	output.limits.BashBytes, output.limits.BashTail, output.limits.TailOnly = checkBytes, checkTail, false
	output.whole.limit = output.capacity()
	exit, err := rt.Processes().Run(ctx, tools.ShellCommand{Text: check.Cmd, Dir: rt.Session().Cwd}, output)
	shown := output.finish()
	outcome.Output, outcome.Truncated, outcome.OutputPath = shown.body(), shown.cut, shown.path
	switch {
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		return outcome, nil // stopped
	case err != nil:
		if _, known := errors.AsType[*tools.Error](err); known {
			return outcome, err
		}
		return outcome, &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("check: %s could not be run: %v", check.Name, err), Err: err}
	}
	outcome.ExitCode, outcome.Signal = &exit.Code, exit.Signal
	outcome.OK = exit.Code == 0 && exit.Signal == ""
	return outcome, nil
}

// verdict is how a check went, in a word or two.
func (o checkOutcome) verdict() string {
	switch {
	case o.OK:
		return "passed"
	case o.ExitCode == nil:
		return "stopped before it ended"
	case o.Signal != "":
		return "failed (" + o.Signal + ")"
	}
	return fmt.Sprintf("failed (exit code %d)", *o.ExitCode)
}

// checkResult tells the model of the outputs of what failed alone; all of them
// are in the data.
func checkResult(data checkData, wanted int, stopped bool) *tools.Result {
	var model, card strings.Builder
	result := tools.Output(data)
	for _, o := range data.Checks {
		fmt.Fprintf(&model, "%s: %s\n", o.Name, o.verdict())
		fmt.Fprintf(&card, "**%s**: %s\n\n", o.Name, o.verdict())
		if o.OK || strings.TrimSpace(o.Output) == "" {
			continue
		}
		fmt.Fprintf(&model, "<command>%s</command>\n<output>%s</output>\n", o.Cmd, o.Output)
		if room := cardBytes - card.Len(); room > len(o.Output) {
			card.WriteString(kinds.Fence("console", o.Output) + "\n\n")
		}
	}
	if left := wanted - len(data.Checks); left > 0 {
		fmt.Fprintf(&model, "%d more not run\n", left)
	}
	result.Text = strings.TrimSuffix(model.String(), "\n")
	result.Content = []kinds.Content{kinds.Text{Text: strings.TrimSpace(card.String())}}
	result.Partial = stopped
	return result
}
