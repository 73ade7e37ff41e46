package tooltest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"acp-agent/tools"
)

// Script is what a command does when it is run.
type Script struct {
	// Cmd is the exact command text it stands for; empty means any.
	Cmd string `json:"cmd,omitempty"`
	// Output is written in these pieces.
	Output []string `json:"output,omitempty"`
	// ExitCode and Signal say how it ends.
	ExitCode int    `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	// Hang keeps it running after its output until the call is cancelled.
	Hang bool `json:"hang,omitempty"`
	// Err is why it cannot be started.
	Err error `json:"-"`
	// Do runs before the output, for effects on files.
	Do func(ctx context.Context) `json:"-"`
}

// Processes runs scripts in place of commands. The first script that fits a
// command is used, again and again. It is safe for concurrent use.
type Processes struct {
	scripts []Script
	fs      *FS // in which working directories must be; nil means anywhere

	mu       sync.Mutex
	calls    []tools.ShellCommand
	programs []tools.Program
}

// NewProcesses returns Processes that know these scripts.
func NewProcesses(scripts ...Script) *Processes { return &Processes{scripts: scripts} }

// Calls lists the commands that were run, in order.
func (p *Processes) Calls() []tools.ShellCommand {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Run implements [tools.Processes]. A command without a script cannot be
// started.
func (p *Processes) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	if err := ctx.Err(); err != nil {
		return tools.Exit{}, err
	}
	p.mu.Lock()
	p.calls = append(p.calls, cmd)
	p.mu.Unlock()
	if cmd.Limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, cmd.Limit, tools.ErrCommandTime)
		defer cancel()
		ctx = limited
	}
	return p.play(ctx, cmd, output)
}

// Exec implements [tools.Processes]. The script is found by the arguments,
// joined by blanks; its output is standard output.
func (p *Processes) Exec(ctx context.Context, program tools.Program, output io.Writer) (tools.Exit, error) {
	if err := ctx.Err(); err != nil {
		return tools.Exit{}, err
	}
	p.mu.Lock()
	p.programs = append(p.programs, program)
	p.mu.Unlock()
	return p.play(ctx, tools.ShellCommand{Text: strings.Join(program.Args, " "), Dir: program.Dir}, output)
}

// Programs lists the programs that were run by their arguments, in order.
func (p *Processes) Programs() []tools.Program {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.programs)
}

func (p *Processes) play(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	if p.fs != nil {
		if info, err := p.fs.Stat(ctx, cmd.Dir); err != nil {
			return tools.Exit{}, tools.Errorf(tools.BadInput, "the working directory %s does not exist", cmd.Dir)
		} else if !info.IsDir {
			return tools.Exit{}, tools.Errorf(tools.BadInput, "the working directory %s is not a directory", cmd.Dir)
		}
	}
	i := slices.IndexFunc(p.scripts, func(s Script) bool { return s.Cmd == "" || s.Cmd == cmd.Text })
	if i < 0 {
		return tools.Exit{}, fmt.Errorf("start %q: no script for this command", cmd.Text)
	}
	script := p.scripts[i]
	if script.Err != nil {
		return tools.Exit{}, fmt.Errorf("start %q: %w", cmd.Text, script.Err)
	}
	if script.Do != nil {
		script.Do(ctx)
	}
	for _, piece := range script.Output {
		if _, err := io.WriteString(output, piece); err != nil {
			return tools.Exit{}, err
		}
	}
	if script.Hang {
		<-ctx.Done()
		return tools.Exit{}, context.Cause(ctx)
	}
	return tools.Exit{Code: script.ExitCode, Signal: script.Signal}, nil
}
