package app

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"acp-agent/kinds"
)

// The exit codes of every subcommand.
const (
	exitOK        = 0
	exitFailed    = 1 // the turn, or the program, failed
	exitUsage     = 2 // the command line was wrong
	exitRefused   = 3 // the model refused
	exitLimit     = 4 // a limit ended the turn: tokens or steps
	exitCancelled = 130
)

// exitError carries an exit code out of a subcommand; err is nil when all has
// been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode says what went wrong, in one line, and how to exit.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	code := exitOf(err)
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "acp-agent:", kinds.Visible(text)) // others may be quoted in it
	}
	return code
}

// exitOf is the exit code of an error.
func exitOf(err error) int {
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	return exitFailed
}

func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "acp-agent",
		Short: "A coding agent for editors that speak the Agent Client Protocol",
		Long: `A coding agent for editors that speak the Agent Client Protocol (ACP).

Without a subcommand it serves ACP on stdin and stdout; that is how editors
start it. To see it at work without an editor, a key or a network:

    acp-agent demo

It talks to any OpenAI-compatible server. Choose one with acp-agent login, or
set OPENAI_API_KEY for the hosted one, or OPENAI_BASE_URL (and OPENAI_MODEL) for
another, such as a local Ollama at http://localhost:11434/v1.`,
		Args:          noArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// A template for cobra's own --version would link text/template, which calls methods by
	// their names, so that the linker could drop none: 12 MB.
	showVersion := root.Flags().BoolP("version", "v", false, "version for acp-agent")
	recording := recordFlag(root)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		}
		return serve(cmd.Context(), stdin, *recording)
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newServe(), newLogin(), newLogout(), newDemo(), newRun(), newTools(), newTool(), newAgents(), newMCP(), newPermissions(), newTrust(), newAudit(), newSessions(), newReplay(),
		newValidate(), newDoctor(), newVersion())
	return root
}

func newServe() *cobra.Command {
	var recording *string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve ACP on stdin and stdout (the default)",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), cmd.InOrStdin(), *recording)
		},
	}
	recording = recordFlag(cmd)
	// An editor appends the arguments of a login to the arguments that it starts the agent with.
	login := newLogin()
	login.Hidden = true
	cmd.AddCommand(login)
	return cmd
}
