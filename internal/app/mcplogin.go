package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"acp-agent/mcp"
	"acp-agent/session"
	"acp-agent/transcript"
)

func newMCPLogin(cwd *string) *cobra.Command {
	return &cobra.Command{
		Use:   "login NAME",
		Short: "Sign in to an MCP server",
		Long: `Sign in to an MCP server of the configuration, or of the project in the
current directory if you trust it. The address to sign in at is printed: open it
in a browser of this machine. The wait ends after five minutes.

The token is kept in the keyring of the system where that works, else in a file
that only you can read (mcp.tokens), and goes to that server alone.

Exit code: 0 you are signed in and the server is ready; 1 not; 2 wrong usage.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSession(cmd, *cwd, session.Spec{Client: session.Client{Sink: transcript.Discard}}, false, func(s *session.Session) error {
				return loginMCP(cmd, s, args[0])
			})
		},
	}
}

func loginMCP(cmd *cobra.Command, s *session.Session, name string) error {
	out := cmd.OutOrStdout()
	err := s.SignIn(cmd.Context(), name, func(_ context.Context, message, address string) (func(), error) {
		_, err := fmt.Fprintf(out, "%s Open this address in a browser:\n\n%s\n\n", message, address)
		return func() {}, err
	})
	if err != nil {
		return fmt.Errorf("sign in to %q: %w", name, err)
	}
	for _, server := range s.Servers() {
		if (server.Name == name || server.ID == name) && server.State != mcp.Ready {
			return fmt.Errorf("you are signed in to %q, but it is %s: %s", name, server.State, server.Problem)
		}
	}
	_, err = fmt.Fprintf(out, "You are signed in to %s.\n", name)
	return err
}

func newMCPLogout(cwd *string) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the token of an MCP server",
		Long: `Forget the token with which you are signed in to an MCP server. The server is
not told: to end its validity there, use what the server offers for that.

Exit code: 0 there is none any more; 1 it could not be forgotten; 2 wrong usage.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSession(cmd, *cwd, session.Spec{Client: session.Client{Sink: transcript.Discard}}, false, func(s *session.Session) error {
				had, err := s.SignOut(cmd.Context(), args[0])
				if err != nil {
					return fmt.Errorf("sign out of %q: %w", args[0], err)
				}
				text := "You are signed out of %s.\n"
				if !had {
					text = "You were not signed in to %s.\n"
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), text, args[0])
				return err
			})
		},
	}
}
