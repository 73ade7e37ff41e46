package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"acp-agent/config"
	"acp-agent/internal/launch"
	"acp-agent/internal/login"
	"acp-agent/internal/userfile"
	"acp-agent/kinds"
	"acp-agent/sandbox"
	"acp-agent/session"
)

// How one thing that doctor looked at stands.
const (
	doctorOK   = "ok"
	doctorWarn = "warning" // the agent works, with less
	doctorFail = "failed"  // sessions, or all that needs this, do not work
)

// probeTimeout bounds the wait for the sandbox's probe.
const probeTimeout = 10 * time.Second

// finding is one line of doctor's report.
type finding struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	// Hint says what to do; empty when nothing need be done.
	Hint string `json:"hint,omitempty"`
}

// doctorReport is what --json prints.
type doctorReport struct {
	Version  string         `json:"version"`
	Cwd      string         `json:"cwd"`
	Findings []finding      `json:"findings"`
	Sandbox  sandbox.Report `json:"sandbox"`
	// Home is what a command sees of the home directory; absent without a sandbox.
	Home *sandbox.HomeReport `json:"home,omitempty"`
	// Kept names the variables that a command gets, Dropped the variables that
	// it does not; no value is ever shown.
	Kept    []string `json:"environment_kept"`
	Dropped []string `json:"environment_dropped"`
}

func newDoctor() *cobra.Command {
	var asJSON, offline bool
	var dir string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine: sandbox, settings, shell, environment",
		Long: `Look at what the agent finds on this machine and in this directory: the
sandbox, found by trying it; the configuration; whether a key is there, never
what it is; the model servers, which are asked for their models, but given no
prompt; the shell; where data is kept, by writing there; and which variables of
the environment a command is given. With --offline no server is asked.

Exit code: 0 when the agent can work, 1 when something keeps it from working.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cwd, err := filepath.Abs(dir)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			core := newCore(cmd.ErrOrStderr())
			defer core.Close()
			report := core.examine(cmd.Context(), cwd, !offline)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				err = report.print(cmd.OutOrStdout())
			}
			if err == nil && report.failed() {
				err = &exitError{code: exitFailed}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&offline, "offline", false, "ask no model server")
	cmd.Flags().StringVar(&dir, "cwd", "", "directory to look at (default: the current one)")
	return cmd
}

// examine looks at everything once, at the model servers only where ask says so.
func (c *core) examine(ctx context.Context, cwd string, ask bool) doctorReport {
	r := doctorReport{Version: version, Cwd: cwd, Sandbox: sandbox.Report{Kind: sandbox.None}}
	host, hostErr := c.assemble() // before the settings, whose names of tools it makes known
	cfg := c.examineSettings(ctx, &r, ask)
	if hostErr != nil {
		r.Findings = append(r.Findings, finding{"tools", doctorFail, hostErr.Error(), "mend the configuration"})
	} else {
		c.examineHost(ctx, &r, host)
	}
	r.Findings = append(r.Findings, sandboxFinding(r.Sandbox, cfg.Sandbox))
	if f, ok := commandNetworkFinding(r.Sandbox, cfg.Sandbox, func() error { return c.tryCommandNetwork(r.Sandbox) }); ok {
		r.Findings = append(r.Findings, f)
	}
	if f, ok := networkFinding(cfg, r.Sandbox); ok {
		r.Findings = append(r.Findings, f)
	}
	if r.Sandbox.Confines() {
		home := c.box.HomeReport(sandbox.Request{Roots: []string{cwd}, Around: true, Writable: cfg.Roots.Write, Readable: cfg.Roots.Read})
		r.Home = &home
		r.Findings = append(r.Findings, homeFinding(home))
	}
	r.Findings = append(r.Findings, shellFinding(cwd), programFinding("git", cwd))
	for _, dir := range [][2]string{
		{"config", filepath.Join(xdg.ConfigHome, "acp-agent")},
		{"data", c.dataDir},
		{"state", c.stateDir},
	} {
		r.Findings = append(r.Findings, directoryFinding(dir[0], dir[1]))
	}
	r.examineEnvironment(os.Environ(), launch.EnvOptions{Secrets: cfg.Secrets(), Workspace: []string{cwd}, Passed: cfg.Environment})
	return r
}

// examineSettings looks at the configuration and the model servers. It returns the
// configuration, or the default where that has a mistake.
func (c *core) examineSettings(ctx context.Context, r *doctorReport, ask bool) *config.Config {
	cfg, err := c.load(r.Cwd)
	if err == nil {
		_, err = c.settings(r.Cwd) // it also checks the names of tools
	}
	r.Findings = append(r.Findings, configFinding(cfg, err))
	if err != nil {
		return config.Default()
	}
	if cfg.ModelSection() || c.getenv(envScript) != "" {
		r.Findings = append(r.Findings, keyFinding(cfg, c.loginStore(cfg), c.getenv(envScript)))
	}
	if len(cfg.Providers) > 0 {
		servers, _ := c.modelServers(cfg)
		r.Findings = append(r.Findings, providersFinding(servers))
	}
	if ask && c.getenv(envScript) == "" {
		r.Findings = append(r.Findings, c.askServers(ctx, cfg)...)
	}
	return cfg
}

// examineHost waits for the sandbox's probe, and lists the tools that cannot be used.
func (c *core) examineHost(ctx context.Context, r *doctorReport, host *session.Host) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var err error
	if r.Sandbox, err = host.Sandbox.Wait(ctx); err != nil {
		r.Sandbox.Notes = append(r.Sandbox.Notes, "finding out took longer than "+probeTimeout.String())
	}
	for _, problem := range c.problems() {
		r.Findings = append(r.Findings, finding{"tools", doctorWarn, problem, ""})
	}
}

// examineEnvironment sorts the variables of the environment by whether a command gets them.
func (r *doctorReport) examineEnvironment(environ []string, o launch.EnvOptions) {
	env, dropped := launch.Env(environ, o)
	r.Kept, r.Dropped = []string{}, append([]string{}, dropped...)
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		r.Kept = append(r.Kept, name)
	}
	r.Findings = append(r.Findings, finding{
		"environment", doctorOK, fmt.Sprintf("%d variables reach a command, %d are kept from it", len(r.Kept), len(r.Dropped)), "",
	})
}

func configFinding(cfg *config.Config, err error) finding {
	switch {
	case err != nil:
		return finding{"configuration", doctorFail, err.Error(), "mend it; no session can be opened before"}
	case len(cfg.Files) == 0:
		return finding{"configuration", doctorOK, "no file; defaults and the environment hold", ""}
	}
	return finding{"configuration", doctorOK, strings.Join(cfg.Files, ", "), ""}
}

// keyFinding says which server will be asked, and whether it is given a key.
func keyFinding(cfg *config.Config, store login.Store, scripted string) finding {
	if scripted != "" {
		return finding{"model", doctorOK, "answers come from a script, " + scripted, ""}
	}
	server := serverWithKey(cfg.Model.BaseURL, cfg.Model.Origin.Key)
	f := finding{"model", doctorOK, cmp.Or(cfg.Model.Name, "the default model") + " at " + server, ""}
	switch {
	case cfg.Model.Origin.Key == config.FromLogin:
		place, kept := keyPlace(store, cfg.Model.BaseURL)
		if !kept {
			f.Status, f.Hint = doctorFail, "run acp-agent login again"
		}
		f.Detail += ", " + place
	case cfg.Model.Origin.Key == "" && cfg.Model.Hosted():
		f.Status = doctorFail
		f.Hint = "run acp-agent login, or set " + cmp.Or(cfg.Model.APIKeyEnv, "model.api_key") + ", or " + cfg.Model.BaseURLVariable() + " for a server of your own"
	}
	return f
}

// providersFinding says which servers can be used, and why others cannot.
func providersFinding(servers []configuredServer) finding {
	f := finding{Name: "providers", Status: doctorFail, Hint: "set a key, or run acp-agent login"}
	var words []string
	for _, s := range servers {
		if s.Missing != "" {
			words = append(words, "not "+s.Name+": "+s.Missing)
			continue
		}
		words = append(words, s.words())
		f.Status, f.Hint = doctorOK, ""
	}
	f.Detail = strings.Join(words, "; ")
	return f
}

// sandboxFinding says what was found, and what the user's settings make of it.
func sandboxFinding(report sandbox.Report, wanted config.Sandbox) finding {
	f := finding{"sandbox", doctorOK, report.String(), ""}
	switch {
	case report.Refused != "":
		f.Status, f.Hint = doctorFail, "install what sandbox.level requires, or change it; no command runs before"
	case !report.Confines():
		f.Status, f.Detail = doctorWarn, "none: rules and questions are all that confines a command"
		if report.NoPlace {
			f.Hint = "make room, or a state directory that can be written"
		} else if runtime.GOOS == "linux" && wanted.Level == config.SandboxAuto {
			f.Hint = "install bubblewrap, or use a kernel with Landlock"
		}
	case wanted.Network:
		f.Detail = string(report.Kind) + ", network on for all commands (sandbox.network)"
	}
	if len(report.Notes) > 0 {
		f.Detail += "; " + strings.Join(report.Notes, " ")
	}
	return f
}

// homeFinding says what a command sees of the home directory.
func homeFinding(home sandbox.HomeReport) finding {
	f := finding{Name: "home", Status: doctorOK}
	if home.Hidden {
		f.Detail = fmt.Sprintf("hidden from commands but for %d paths (toolchains, this project, roots.*; --json lists them)", len(home.Shown))
	} else {
		f.Status, f.Detail = doctorWarn, "visible to commands but for known places of secrets: it lies in this directory or in roots.*, or is a directory of the system"
	}
	if len(home.Credentials) > 0 {
		f.Detail += "; settings that hold a credential are hidden: " + strings.Join(home.Credentials, ", ")
	}
	return f
}

func shellFinding(cwd string) finding {
	found, err := launch.FindShell(os.Getenv("PATH"), []string{cwd})
	switch {
	case err != nil:
		return finding{"shell", doctorFail, "neither bash nor sh was found", "install bash; commands cannot run without a shell"}
	case !found.Bash:
		return finding{"shell", doctorWarn, found.Path + " (POSIX)", "install bash; more commands are understood with it"}
	}
	return finding{"shell", doctorOK, found.Path, ""}
}

func programFinding(name, cwd string) finding {
	path, ok := launch.FindProgram(name, os.Getenv("PATH"), []string{cwd})
	if !ok {
		return finding{name, doctorWarn, "not found", "install it; tools that need it are refused"}
	}
	return finding{name, doctorOK, path, ""}
}

// directoryFinding says whether a directory of ours is private and can be written. A missing one
// is no fault: the agent makes it when it needs it.
func directoryFinding(name, path string) finding {
	f := finding{name + " directory", doctorOK, path, ""}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Detail += " (not there yet)"
		if err := userfile.Room(path); err != nil {
			f.Status, f.Detail, f.Hint = doctorWarn, f.Detail+": "+err.Error(), noRoomHint
		}
	case err != nil:
		f.Status, f.Detail, f.Hint = doctorFail, err.Error(), "make it readable, or remove it"
	case !info.IsDir():
		f.Status, f.Detail, f.Hint = doctorFail, path+" is not a directory", "remove it"
	default:
		if err := writeIn(path); err != nil {
			f.Status, f.Detail, f.Hint = doctorWarn, err.Error(), noRoomHint
		} else if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
			f.Status, f.Hint = doctorWarn, "others may write there; run: chmod go-w "+path
		}
	}
	return f
}

const noRoomHint = "make it writable, or make room; what is kept there is lost until then"

// writeIn makes a file in a directory and removes it, to try out whether that is possible.
func writeIn(dir string) error {
	f, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (r doctorReport) failed() bool {
	for _, f := range r.Findings {
		if f.Status == doctorFail {
			return true
		}
	}
	return false
}

func (r doctorReport) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "acp-agent %s in %s\n", r.Version, kinds.Visible(r.Cwd))
	for _, f := range r.Findings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Name, f.Status, kinds.Visible(f.Detail))
		if f.Hint != "" {
			fmt.Fprintf(table, "\t\t-> %s\n", f.Hint)
		}
	}
	fmt.Fprintf(table, "\nkept from commands: %s\n", cmp.Or(strings.Join(r.Dropped, ", "), "nothing"))
	return table.Flush()
}
