package app

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/acp"
	"acp-agent/config"
	"acp-agent/kinds"
)

// loginFlags are the answers that the command line gives.
type loginFlags struct {
	provider, baseURL, model           string
	keyStdin, noKey, unchecked, asJSON bool
}

func newLogin() *cobra.Command {
	var flags loginFlags
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Choose a model server and store its key",
		Long: `Choose a model server, test the key with a request that costs nothing, and store
both for every session from now on. Editors run this command in a terminal when
you press their login button.

The key is kept in the keyring of the system where that works, else in a file
that only you can read (mcp.tokens). It is never shown, and goes to that server
alone. Address and model lie in the agent's data directory. What the environment
or your configuration file names takes precedence.

Without a terminal:

    printf %s "$KEY" | acp-agent login --provider openrouter --key-stdin
    acp-agent login --base-url http://localhost:11434/v1 --model qwen3-coder --no-key

Exit code: 0 you are logged in; 1 not, and nothing is stored; 2 wrong usage;
130 interrupted.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runLogin(cmd, flags) },
	}
	cmd.Flags().StringVar(&flags.provider, "provider", "", "the server: ")
	// Every start of the agent comes through here: the presets are read when help is asked for.
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Flags().Lookup("provider").Usage += strings.Join(providerIDs(), ", ")
		cmd.Root().HelpFunc()(cmd, args)
	})
	cmd.Flags().StringVar(&flags.baseURL, "base-url", "", "address of another server, usually ending in /v1")
	cmd.Flags().StringVar(&flags.model, "model", "", "model of new sessions")
	cmd.Flags().BoolVar(&flags.keyStdin, "key-stdin", false, "read the key from the first line of stdin")
	cmd.Flags().BoolVar(&flags.noKey, "no-key", false, "the server needs no key")
	cmd.Flags().BoolVar(&flags.unchecked, "no-test", false, "store without a request to the server")
	cmd.Flags().BoolVar(&flags.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("key-stdin", "no-key")
	return cmd
}

// loginReport is what --json prints.
type loginReport struct {
	Provider string `json:"provider"`
	BaseURL  string `json:"base_url"`
	Model    string `json:"model,omitempty"`
	// Key says where the key lies; "none" without one.
	Key    string   `json:"key"`
	Tested bool     `json:"tested"`
	Notes  []string `json:"notes"`
}

func runLogin(cmd *cobra.Command, flags loginFlags) error {
	form, err := newLoginForm(cmd, flags)
	if err != nil {
		return err
	}
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	ctx := cmd.Context()
	if err := form.complete(ctx); err != nil {
		return err
	}
	login := config.Login{Provider: form.provider.id, BaseURL: form.baseURL, Model: form.model}
	if err := core.storeLogin(ctx, login, form.key); err != nil {
		return err
	}
	report := loginReport{
		Provider: login.Provider, BaseURL: login.BaseURL, Model: login.Model, Key: "none", Tested: !flags.unchecked,
		Notes: append(form.notes, core.loginObstacles(login)...),
	}
	if form.key != "" {
		report.Key, _ = keyPlace(core.loginStoreNow(), login.BaseURL)
	}
	if flags.asJSON {
		report.Notes = append([]string{}, report.Notes...)
		return printJSON(cmd.OutOrStdout(), report)
	}
	return report.print(cmd.OutOrStdout())
}

func (r loginReport) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "You are logged in to %s", r.BaseURL)
	if r.Model != "" {
		fmt.Fprintf(&b, ", model %s", kinds.Visible(r.Model))
	}
	b.WriteString(".\n")
	if r.Key != "none" {
		fmt.Fprintf(&b, "The key is kept %s.\n", r.Key)
	}
	if !r.Tested {
		b.WriteString("Server and key were not tested.\n")
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// loginObstacles says what comes before a login, so that sessions do not use it or not as
// it stands.
func (c *core) loginObstacles(login config.Login) []string {
	cfg, err := config.Load(c.sources, "")
	if err != nil {
		return []string{"No session can be opened until this is corrected: " + err.Error()}
	}
	var notes []string
	m := cfg.Model
	switch {
	case m.BaseURL != login.BaseURL && m.Origin.Server != "":
		notes = append(notes, fmt.Sprintf("Sessions still use %s: %s is set and takes precedence.", m.BaseURL, m.Origin.Server))
	case m.BaseURL != login.BaseURL && m.Origin.Key != "":
		notes = append(notes, fmt.Sprintf("Sessions still use %s: %s holds a key for it and takes precedence. Unset it, or set %s too.", m.BaseURL, m.Origin.Key, config.EnvBaseURL))
	case m.BaseURL != login.BaseURL:
		notes = append(notes, fmt.Sprintf("Sessions still use %s: model.headers is set without model.base_url.", m.BaseURL))
	default:
		if m.Origin.Key != "" && m.Origin.Key != config.FromLogin {
			notes = append(notes, fmt.Sprintf("Sessions use the key in %s, which takes precedence.", m.Origin.Key))
		}
		if login.Model != "" && m.Name != login.Model {
			notes = append(notes, fmt.Sprintf("Sessions use the model %s, which %s or model.name names.", m.Name, config.EnvModel))
		}
	}
	return notes
}

// loginOf is how an editor runs the login, with the variables that decide where it is
// stored and what comes before it.
func loginOf(getenv func(string) string) acp.Login {
	self, err := os.Executable()
	if err != nil {
		return acp.Login{}
	}
	login := acp.Login{Command: self, Args: []string{"login"}, Env: map[string]string{}}
	for _, name := range []string{config.EnvConfig, "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if value := getenv(name); value != "" {
			login.Env[name] = value
		}
	}
	return login
}
