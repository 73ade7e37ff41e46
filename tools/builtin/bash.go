package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/internal/shell"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed bash.md
var bashPrompt string

type bashArgs struct {
	Cmd string `json:"cmd"`
	Cwd string `json:"cwd"`
	// Timeout is in seconds; see finishBash for how models write it.
	Timeout    float64 `json:"timeout"`
	Background bool    `json:"background"`
}

// bashData is the data of a command (R52). When the output was cut, Output is
// its end and Head its beginning (R105); Head is empty in profile amp.
type bashData struct {
	Command   string  `json:"command"`
	Cwd       string  `json:"cwd"`
	Output    string  `json:"output"`
	Head      *string `json:"head,omitempty"`
	ExitCode  *int    `json:"exit_code"`
	Signal    string  `json:"signal,omitempty"`
	Truncated bool    `json:"truncated,omitempty"`
	// Job is the id of a command in the background.
	Job string `json:"job,omitempty"`
	// Ports are those on which it listened when the call ended.
	Ports []int `json:"ports,omitempty"`
	// Notes say what was done about the command besides running it.
	Notes []string `json:"notes,omitempty"`
}

// newBash is the tool that runs commands (R51-R59). Limits.BashBytes and
// Limits.BashTail bound what it returns; it has no time limit unless the host
// sets Limits.BashTimeout or the call asks for one.
func newBash() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "bash",
		Description: prompt(bashPrompt),
		Kind:        kinds.Execute,
		Label:       "Run command",
		Describe:    bashTitle,
		Default:     capability.AllowSandboxed,
		Parameters: object(
			text("cmd", "The command."),
			text("cwd?", "Absolute directory to run it in. Default: the working directory."),
			number("timeout?", "Stop it after so many seconds; from 1000 on, milliseconds."),
			flag("background?", "Do not wait for its end: it goes on as a job."),
		),
		Requires:       capability.RequirementSet{Capabilities: []string{capability.CapShellRun}},
		Aliases:        []tools.Alias{{Name: "Bash"}, {Name: "run_terminal_command"}},
		Accepts:        bashAccepts(),
		Preprocess:     preprocessBash,
		Resources:      commandOf,
		Profile:        &tools.Profile{Serial: true},
		DisableTimeout: true,
		OwnLimit:       true,
	}, bash)
}

// bashTitle is the whole command, with the "&" of the shell where it goes to the background.
func bashTitle(args tools.Args, _ kinds.Place) kinds.Card {
	a := tools.ArgsAs[bashArgs](args)
	if a.Background && a.Cmd != "" {
		a.Cmd += " &"
	}
	return kinds.Card{Title: a.Cmd}
}

// preprocessBash makes the command and its directory what will be judged and
// run (R53). A command that goes to a directory outside by itself is asked about as one
// that names it is, while cwd may not be outside (R59).
func preprocessBash(args map[string]any, env tools.Env) error {
	if background, _ := args["background"].(bool); background && env.NoJobs {
		return tools.Errorf(tools.Unavailable, noJobsHere) // before the user is asked about it
	}
	cmd, isText := args["cmd"].(string)
	cwd, inDir := args["cwd"].(string)
	if args["cmd"] != nil && !isText || args["cwd"] != nil && !inDir || !given(args, "cmd") {
		return nil // the schema check names what is wrong
	}
	cmd, cwd, err := shell.Preprocess(cmd, env.Abs(cwd), env.Home, env.Inside)
	if err != nil {
		return &tools.Error{Kind: tools.BadInput, Message: "bash: " + err.Error(), Err: err}
	}
	args["cmd"], args["cwd"] = cmd, cwd
	return nil
}

func commandOf(args tools.Args, env tools.Env) []tools.Resource {
	a, err := tools.Decode[bashArgs](context.Background(), args)
	if err != nil {
		return nil
	}
	return []tools.Resource{{Kind: tools.Command, Value: a.Cmd, Dir: env.Abs(a.Cwd)}}
}

func bash(ctx context.Context, rt tools.Runtime, a bashArgs) (*tools.Result, error) {
	if strings.TrimSpace(a.Cmd) == "" {
		return nil, tools.Errorf(tools.BadInput, "bash: cmd must not be empty")
	}
	if a.Background {
		return startJob(ctx, rt, a)
	}
	limit := timeLimit(rt.Session().Limits, a.Timeout)
	cmd := tools.ShellCommand{Text: a.Cmd, Dir: rt.Session().Abs(a.Cwd), Limit: limit}
	output := newCollector(rt)
	exit, err := rt.Processes().Run(ctx, cmd, output)
	shown := output.finish()
	switch {
	case errors.Is(err, tools.ErrCommandTime):
		return nil, &tools.Error{
			Kind:    tools.Timeout,
			Message: fmt.Sprintf("Tool execution timed out after %v seconds", limit.Seconds()),
			Detail:  "The command was stopped. Its output until then:\n" + shown.body(),
		}
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		return bashResult(cmd, shown, nil), nil
	case err != nil:
		return nil, startFailure(err)
	}
	return bashResult(cmd, shown, &exit), nil
}

// timeLimit is the time limit of a command that asks for so many seconds, 0 for none: the
// user's own limit is never exceeded. The result is 0 for a command without one.
func timeLimit(l tools.Limits, seconds float64) time.Duration {
	if seconds <= 0 {
		return cmp.Or(l.BashTimeout, l.BashDefault)
	}
	asked := time.Duration(min(seconds, maxTimeout.Seconds()) * float64(time.Second))
	if l.BashTimeout > 0 {
		return min(l.BashTimeout, asked)
	}
	return asked
}

// maxTimeout bounds the time limit that a model may ask for.
const maxTimeout = 24 * time.Hour

// startFailure is the error of a command that could not be run (R55).
func startFailure(err error) error {
	if _, known := errors.AsType[*tools.Error](err); known {
		return err
	}
	return &tools.Error{Kind: tools.Backend, Message: fmt.Sprintf("bash: the command could not be run: %v", err), Err: err}
}

// body is the output with a mark where something was left out.
func (v view) body() string {
	if !v.cut {
		return v.text
	}
	mark := fmt.Sprintf("[%d bytes of output left out here; %s]\n", v.omitted, v.note)
	if v.head != "" && !strings.HasSuffix(v.head, "\n") {
		mark = "\n" + mark
	}
	return v.head + mark + v.text
}

// bashResult makes the text of R52; exit is nil for a command that was
// cancelled, whose output so far is returned.
func bashResult(cmd tools.ShellCommand, v view, exit *tools.Exit) *tools.Result {
	data := bashData{Command: cmd.Text, Cwd: cmd.Dir, Output: v.text, Truncated: v.cut}
	if v.cut {
		data.Head = &v.head
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<command>%s</command>\n<working_directory>%s</working_directory>\n<output>%s</output>\n",
		cmd.Text, cmd.Dir, v.body())
	if exit == nil {
		b.WriteString("<cancelled>the command was stopped before it ended</cancelled>")
	} else {
		data.ExitCode, data.Signal = &exit.Code, exit.Signal
		fmt.Fprintf(&b, "<exit_code>%d</exit_code>", exit.Code)
		if exit.Signal != "" {
			fmt.Fprintf(&b, "\n<signal>%s</signal>", exit.Signal)
		}
		data.Notes = exit.Notes
		for _, note := range exit.Notes {
			fmt.Fprintf(&b, "\n<note>%s</note>", note)
		}
	}
	return &tools.Result{
		Data: data, Text: b.String(), Content: bashCard(v, exit), Partial: exit == nil, Truncated: v.cut, OutputPath: v.path,
	}
}
