package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/loop"
	"acp-agent/session"
	"acp-agent/store"
	"acp-agent/transcript"
)

// runFlags are the flags of run.
type runFlags struct {
	cwd, model, mode, agent string
	session                 string
	goOn                    bool
	allow                   []string
	unsandboxed, asJSON     bool
}

func newRun() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [prompt...]",
		Short: "Run one turn without an editor",
		Long: `Run one turn in the current directory and print the answer.

The prompt is the arguments, standard input when there are none or the only
one is "-", or both: standard input then follows the arguments.

There is no one to ask: what would be asked in an editor is denied, unless a
rule allows it, from the configuration or from --allow. A rule is written as
in the configuration, "tool" or "tool(pattern)"; it lifts neither a deny nor
what is asked each time, such as a dangerous command or a file that makes
other programs run code. Commands that do more than read also need a sandbox,
or --unsandboxed. Mode plan changes nothing; mode auto allows what a sandbox
confines.

The answer goes to standard output, what the agent does to standard error.
With --json, "answer" is the last message and "messages" are all of them.
A command ends after 10 minutes unless limits.bash_timeout or the call says
otherwise, for no one is there to end one that hangs.
Subagents that still run in the background when the turn has ended are waited
for, and what they report is printed after the answer; an interrupt ends them.
The conversation is stored. --continue goes on with the latest one of the
directory, --session with a certain one (acp-agent sessions list).
Exit code: 0 the turn ended; 1 it failed; 2 wrong usage; 3 the model refused;
4 the token or step limit ended it; 130 interrupted.`,
		Example: `  acp-agent run "What does this project do?"
  git diff | acp-agent run "Review this change" --json
  acp-agent run "Mend the tests" --mode code --allow 'bash(go test *)'
  acp-agent run --continue "And the documentation?"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := readPrompt(args, cmd.InOrStdin())
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return runTurn(cmd, flags, prompt)
		},
	}
	cmd.Flags().StringVar(&flags.cwd, "cwd", "", "directory to work in (default: the current one)")
	cmd.Flags().StringVar(&flags.model, "model", "", "model to use (default: the configured one)")
	cmd.Flags().StringVar(&flags.agent, "agent", "", "agent to talk to, see acp-agent agents (default: the configured one)")
	cmd.Flags().StringVar(&flags.mode, "mode", "", "mode: ask, code, plan or auto (default: the configured one)")
	cmd.Flags().StringArrayVar(&flags.allow, "allow", nil, "allow what this `rule` matches, as in 'bash(go test *)'; may be repeated")
	cmd.Flags().BoolVarP(&flags.goOn, "continue", "c", false, "go on with the latest conversation of the directory")
	cmd.Flags().StringVar(&flags.session, "session", "", "go on with the conversation of this `id`, or of an id that begins so")
	cmd.MarkFlagsMutuallyExclusive("continue", "session")
	cmd.Flags().BoolVar(&flags.unsandboxed, "unsandboxed", false, "let allowed commands run where no sandbox confines them")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print one JSON object at the end instead of text")
	return cmd
}

// commandTimeout bounds a command of a run when neither the call nor the configuration does.
const commandTimeout = 10 * time.Minute

// maxPrompt bounds what is read from standard input.
const maxPrompt = 8 << 20

// readPrompt joins the arguments and standard input.
func readPrompt(args []string, stdin io.Reader) (string, error) {
	if len(args) == 1 && args[0] == "-" {
		args = nil
	}
	text := strings.Join(args, " ")
	if len(args) == 0 || piped(stdin) {
		data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		if len(data) > maxPrompt {
			return "", fmt.Errorf("the prompt on standard input is larger than %d MiB", maxPrompt>>20)
		}
		text = strings.TrimSpace(text + "\n\n" + string(data))
	}
	if text == "" {
		return "", errors.New(`no prompt: give it as an argument, as in acp-agent run "Explain main.go"`)
	}
	return text, nil
}

// piped reports whether standard input is a file or a pipe with something to
// say; a terminal, a closed one and /dev/null are not.
func piped(stdin io.Reader) bool {
	file, ok := stdin.(*os.File)
	if !ok {
		return stdin != nil
	}
	info, err := file.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

func runTurn(cmd *cobra.Command, flags runFlags, prompt string) error {
	cwd, err := filepath.Abs(flags.cwd)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	ctx := cmd.Context()
	report := newReport(cmd.OutOrStdout(), cmd.ErrOrStderr(), flags.asJSON)
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	rules, err := core.allowRules(flags.allow)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	spec := session.Spec{
		Cwd: cwd, Agent: flags.agent, Rules: rules, Client: session.Client{Sink: report},
		Unattended: session.Unattended{Unsandboxed: flags.unsandboxed, Waits: true, CommandTimeout: commandTimeout},
	}
	stored, err := core.storedID(flags, cwd)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	s, err := core.openOrResume(ctx, stored, spec)
	if err != nil {
		return report.failed(err)
	}
	defer s.Close(500 * time.Millisecond)
	if err := s.AwaitMode(ctx); err != nil {
		return report.failed(err)
	}
	if err := applyFlags(s, flags); err != nil {
		return &exitError{exitUsage, err}
	}
	turn := s.Prompt([]transcript.Part{&transcript.TextPart{Text: prompt}})
	stop, err := turn.Wait(ctx)
	turn.Release()
	if awaitSubagents(ctx, s, report) != nil && err == nil {
		stop = loop.Cancelled
	}
	report.subagents(s.Tasks())
	if err != nil {
		return report.failed(err)
	}
	return report.ended(stop)
}

// storedID is the id of the stored conversation that the flags continue; "" is none.
func (c *core) storedID(flags runFlags, cwd string) (string, error) {
	if !flags.goOn && flags.session == "" {
		return "", nil
	}
	host, err := c.assemble()
	if err != nil {
		return "", err
	}
	if flags.session != "" {
		return (&archive{Store: host.Store, core: c}).resolve(flags.session)
	}
	page, err := host.List(store.ListOptions{Cwd: cwd, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(page.Sessions) == 0 {
		return "", fmt.Errorf("no conversation of %s is stored; leave out --continue to begin one", cwd)
	}
	return page.Sessions[0].ID, nil
}

func (c *core) openOrResume(ctx context.Context, stored string, spec session.Spec) (*session.Session, error) {
	if stored == "" {
		return c.Open(ctx, spec)
	}
	return c.Resume(ctx, stored, spec)
}

// stopWait bounds how long the subagents of an interrupted run may take to end.
const stopWait = 2 * time.Second

// awaitSubagents waits for the subagents in the background, so that what they report is
// printed. When ctx ends, it ends them and returns an error.
func awaitSubagents(ctx context.Context, s *session.Session, report *report) error {
	report.waiting(s.Tasks())
	s.Rest(ctx)
	if ctx.Err() == nil {
		return nil
	}
	s.Cancel()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	s.Rest(ending)
	return ctx.Err()
}

// applyFlags sets mode and model as the flags name them. A model need not be in the server's
// list.
func applyFlags(s *session.Session, flags runFlags) error {
	if flags.mode != "" {
		if err := s.SetOption(session.ModeOption, flags.mode); err != nil {
			return err
		}
	}
	if flags.model == "" {
		return nil
	}
	s.AdmitModel(flags.model)
	return s.SetOption(session.ModelOption, flags.model)
}
