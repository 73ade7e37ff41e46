package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/config"
)

func newLogout() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Forget the key and the server of acp-agent login",
		Long: `Forget what acp-agent login stored: the key, in the keyring or its file, and the
address and model. Keys in the environment and in your configuration file stay
as they are, and are named. An agent that an editor runs already keeps what it
read until it ends or its login is ended there.

Exit code: 0 nothing is stored any more; 1 it could not be forgotten; 2 wrong usage.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			core := newCore(cmd.ErrOrStderr())
			defer core.Close()
			baseURL, had, err := core.loginStoreNow().Forget(cmd.Context())
			if err != nil {
				return fmt.Errorf("forget the login: %w", err)
			}
			report := logoutReport{LoggedOut: had, BaseURL: baseURL, Remains: core.loginRemains()}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), report)
			}
			return report.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// logoutReport is what --json prints.
type logoutReport struct {
	// LoggedOut says that something was stored, BaseURL for which server, as far as known.
	LoggedOut bool   `json:"logged_out"`
	BaseURL   string `json:"base_url,omitempty"`
	// Remains are the credentials and servers that other settings name.
	Remains []string `json:"remains"`
}

func (r logoutReport) print(out io.Writer) error {
	var b strings.Builder
	switch {
	case !r.LoggedOut:
		b.WriteString("You were not logged in.\n")
	case r.BaseURL == "":
		b.WriteString("You are logged out. The stored login was damaged; a key of it may remain.\n")
	default:
		fmt.Fprintf(&b, "You are logged out of %s; its key is forgotten.\n", r.BaseURL)
	}
	for _, note := range r.Remains {
		fmt.Fprintf(&b, "%s\n", note)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// loginRemains says which server and key sessions still find without a login.
func (c *core) loginRemains() []string {
	cfg, err := config.Load(c.sources, "")
	if err != nil {
		return []string{"The configuration cannot be read: " + err.Error()}
	}
	notes := []string{}
	if origin := cfg.Model.Origin.Key; origin != "" {
		notes = append(notes, "A key remains in "+origin+".")
	}
	if origin := cfg.Model.Origin.Server; origin != "" {
		notes = append(notes, "The server "+cfg.Model.BaseURL+" remains in "+origin+".")
	}
	if len(cfg.Model.Headers) > 0 {
		notes = append(notes, "The headers in model.headers remain.")
	}
	return notes
}
