package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"acp-agent/capability"
	"acp-agent/internal/launch"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
	"acp-agent/workspace"
	runner "acp-agent/workspace/run"
)

func newValidate() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "validate <dir|file> --type tool|manifest",
		Short: "Check a tool module, a mount plan, or an agent manifest",
		Long: `Check something before it is used, and say what is wrong with it.

With --type tool, the target is a directory that holds a tool.json or a mount
plan (mount.yaml, mount.jsonc), such a file, or a script of a toolbox. Each tool's name, description
and schema are looked at, it is mounted, and it is run with faulty arguments,
which it must refuse without crashing.

With --type manifest, the target is an agent manifest: Markdown with front
matter. What keeps it from being used is an error: a variable that is not
defined, a rule or requirement that cannot be. What has no effect is a warning.

Exit code: 0 all is well; 1 something is wrong; 2 wrong usage.`,
		Example: `  acp-agent validate ./my-tool --type tool
  acp-agent validate .agents/agents/fix.md --type manifest`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch kind {
			case "tool":
				return validateTool(cmd, args[0])
			case "manifest":
				return validateManifest(cmd, args[0])
			}
			return &exitError{exitUsage, fmt.Errorf("--type must be tool or manifest, found %q", kind)}
		},
	}
	cmd.Flags().StringVar(&kind, "type", "tool", "what the target is: tool or manifest")
	return cmd
}

func validateTool(cmd *cobra.Command, target string) error {
	core := newCore(cmd.ErrOrStderr())
	defer core.Close()
	var err error
	if core.launcher, err = newLauncher(); err != nil {
		return err
	}
	cfg, err := core.load("")
	if err != nil {
		return err // it says how what is checked must be confined
	}
	core.box = core.newBox(cfg)
	defer core.box.Probe.Stop()
	scratch, err := os.MkdirTemp("", "acp-agent-validate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	work, err := workspace.New(workspace.Options{
		SessionID:   "validate",
		Directories: workspace.Directories{Cwd: scratch, State: filepath.Join(core.stateDir, "sessions")},
		Commands:    runner.Options{Launcher: core.launcher, Environ: os.Environ(), Passed: cfg.Environment, Secrets: core.secrets(), Sandbox: runner.Sandboxing{Box: core.box, Level: requiredKind(cfg.Sandbox.Level), Network: cfg.Sandbox.Network}},
	})
	if err != nil {
		return err
	}
	defer work.Close(launch.ShutdownGrace)
	report := mount.Validate(cmd.Context(), target, mount.ValidateOptions{
		Options: core.mountOptions(builtin.All(), cfg.Toolbox), Check: tooltest.Check,
		Runtime: func(callID, tool string) (tools.Runtime, func()) {
			call := work.Call(callID, tool, nil)
			return handRuntime{call}, call.Finish
		},
	})
	fmt.Fprint(cmd.OutOrStdout(), report.String())
	if !report.OK() {
		return &exitError{exitFailed, errors.New(target + " is not in order")}
	}
	return nil
}

// handRuntime is the runtime of a call outside any session.
type handRuntime struct{ *workspace.Call }

// Services implements tools.Runtime.
func (handRuntime) Services() tools.Services { return tools.Services{} }

// Net implements tools.Runtime.
func (r handRuntime) Net() tools.Net { return r }

// Do implements tools.Net.
func (handRuntime) Do(context.Context, tools.Request) (*tools.Response, error) {
	return nil, tools.Errorf(tools.Unavailable, "there is no network while a tool is checked")
}

func validateManifest(cmd *cobra.Command, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, subagent.MaxManifest+1)) // a device may have no end
	switch {
	case err != nil:
		return err
	case len(text) > subagent.MaxManifest:
		return fmt.Errorf("%s is larger than %d KiB", path, subagent.MaxManifest>>10)
	}
	manifest, err := subagent.ParseManifest(path, text)
	if err != nil {
		return err
	}
	var bad []error
	for _, p := range slices.Concat(manifest.Problems, subagent.Check(manifest, knownTool, capability.NoDirectories())) {
		if p.Warning {
			fmt.Fprintf(cmd.OutOrStdout(), "warn %s\n", p)
			continue
		}
		bad = append(bad, &p)
	}
	if len(bad) > 0 {
		return errors.Join(bad...)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "ok   %s: agent %s\n", path, manifest.Name)
	return err
}
