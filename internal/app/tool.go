package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"acp-agent/kinds"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// toolFlags are the flags of tool.
type toolFlags struct {
	cwd         string
	yes, asJSON bool
}

func newTool() *cobra.Command {
	var flags toolFlags
	cmd := &cobra.Command{
		Use:   "tool <id> ['<json>']",
		Short: "Run one tool by hand",
		Long: `Run one tool by hand, through every stage that a model's call passes: names,
settings, schema, capability check, rules, questions, limits.

The arguments are one JSON object, from the command line or from standard
input; without any they are {}. What would be asked is asked on the terminal,
answered with yes under --yes, and denied when there is no terminal.

The result goes to standard output as the model reads it, or with --json as
the envelope, one JSON object. Exit code: 0 an output; 1 a tool error; 2 wrong
usage; 130 interrupted.`,
		Example: `  acp-agent tool glob '{"filePattern": "**/*.go"}'
  acp-agent tool bash --yes --json '{"cmd": "go test ./..."}'`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runTool(cmd, flags, args) },
	}
	cmd.Flags().StringVar(&flags.cwd, "cwd", "", "directory to work in (default: the current one)")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "answer every question with yes")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print the envelope as one JSON object")
	return cmd
}

func runTool(cmd *cobra.Command, flags toolFlags, args []string) error {
	asker := handAsker{typed: &typedLines{in: cmd.InOrStdin()}, out: cmd.ErrOrStderr(), yes: flags.yes}
	input, err := toolInput(args[1:], cmd.InOrStdin())
	if err != nil {
		return &exitError{exitUsage, err}
	}
	// The command line names the tool and its arguments: the user has chosen what runs.
	spec := session.Spec{Client: session.Client{Sink: progress(cmd.ErrOrStderr(), flags.asJSON)}, Unattended: session.Unattended{Unsandboxed: true}}
	if asker.reachable() {
		spec.Asker = asker
	}
	opened := false
	err = withSession(cmd, flags.cwd, spec, true, func(s *session.Session) error {
		opened = true
		end := s.Call(cmd.Context(), args[0], input)
		if flags.asJSON {
			err = printLine(cmd.OutOrStdout(), end.Result)
		} else if end.Result.Type == transcript.Output {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), kinds.Visible(end.Text))
		}
		switch {
		case err != nil || end.Result.Type == transcript.Output:
			return err
		case cmd.Context().Err() != nil:
			return &exitError{exitCancelled, errors.New("interrupted")}
		case flags.asJSON:
			return &exitError{code: exitFailed}
		}
		return errors.New(kinds.Visible(end.Result.ErrorText))
	})
	if err == nil || opened || !flags.asJSON || exitOf(err) == exitUsage {
		return err
	}
	if err := printLine(cmd.OutOrStdout(), notOpened(err)); err != nil {
		return err
	}
	return &exitError{code: exitFailed}
}

// notOpened is the envelope of a call that no session could be opened for.
func notOpened(err error) transcript.Envelope {
	detail := &transcript.ErrorDetail{Kind: string(tools.Unavailable)}
	if known, ok := errors.AsType[*tools.Error](err); ok {
		detail.Kind, detail.Code, detail.AbsolutePath = string(known.Kind), known.Code, known.Path
	}
	return transcript.Envelope{Type: transcript.Error, ErrorText: err.Error(), Error: detail}
}

// toolInput is the arguments of the call, from the command line or else from
// standard input.
func toolInput(args []string, stdin io.Reader) (string, error) {
	switch {
	case len(args) == 1 && args[0] != "-":
		return args[0], nil
	case len(args) == 0 && !piped(stdin):
		return "{}", nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("read the arguments: %w", err)
	}
	if len(data) > maxPrompt {
		return "", fmt.Errorf("the arguments on standard input are larger than %d MiB", maxPrompt>>20)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "{}", nil
	}
	return string(data), nil
}

// progress shows what a running call prints.
func progress(out io.Writer, quiet bool) transcript.Sink {
	return transcript.SinkFunc(func(e transcript.Event) {
		if output, ok := e.(transcript.ToolOutput); ok && !quiet {
			io.WriteString(out, kinds.Visible(output.Text))
		}
		if notice, ok := e.(transcript.Notice); ok {
			fmt.Fprintln(out, "•", kinds.Visible(notice.Text))
		}
	})
}

// handAsker asks on the terminal.
type handAsker struct {
	typed *typedLines
	out   io.Writer
	yes   bool
}

// reachable reports whether there is a user to answer.
func (a handAsker) reachable() bool {
	file, ok := a.typed.in.(*os.File)
	return a.yes || ok && term.IsTerminal(int(file.Fd()))
}

// Ask implements tools.Asker.
func (a handAsker) Ask(ctx context.Context, req tools.PermissionRequest) (tools.Answer, error) {
	if a.yes {
		return tools.AllowOnce, nil
	}
	line, err := a.typed.ask(ctx, func() {
		fmt.Fprintf(a.out, "%s\n%s\nAllow? [y/N] ", kinds.Visible(req.Ready.Card.Title), kinds.Visible(req.Reason))
	})
	if ctx.Err() != nil {
		fmt.Fprintln(a.out) // what follows stands on a line of its own
		return tools.RejectOnce, context.Cause(ctx)
	}
	if err != nil && line == "" {
		return tools.RejectOnce, nil // the end of the input refuses
	}
	if saysYes(line) {
		return tools.AllowOnce, nil
	}
	return tools.RejectOnce, nil
}
