package mount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"acp-agent/capability"
	"acp-agent/tools"
)

// MaxDescribed bounds, in bytes, what an executable that is asked to describe itself
// may answer. Options.Describe need not keep more than one byte above it.
const MaxDescribed = 256 << 10

const (
	// describeTime is how long all executables of a plan may take to describe
	// themselves.
	describeTime = 5 * time.Second
	// maxConfig bounds a module's config, which it gets as one variable.
	maxConfig = 32 << 10
)

// The variables of the protocol of local modules.
const (
	actionVar = "TOOLBOX_ACTION"
	configVar = "TOOLBOX_CONFIG"

	actionDescribe = "describe"
	actionExecute  = "execute"
)

// errSlowDescribe is the cause of a context that ended at describeTime.
var errSlowDescribe = fmt.Errorf("describe took longer than %s", describeTime)

// localTool is the module in a directory with tool.json, or a script of a toolbox,
// see the package comment. dir is absolute with its links resolved. It is loaded,
// then mounted.
type localTool struct {
	dir      string
	config   json.RawMessage
	manifest *manifest
	// script is the name of a toolbox's script in dir; empty for a module.
	script  string
	toolbox Toolbox
}

// mount is the module's [Module]; it has its config already.
func (l *localTool) mount(_ context.Context, c *Coordinator, _ json.RawMessage) (Mounted, error) {
	id, err := ToolID(l.manifest.Name)
	if err != nil {
		return Mounted{}, err
	}
	tool := l.tool(id, c.module)
	if err := c.Mount(tool); err != nil {
		return Mounted{}, err
	}
	if events := l.manifest.Events; len(events) > 0 {
		c.RegisterContributor(EventsChannel, c.module, func() []string { return events })
	}
	return Mounted{Tool: &tool}, nil
}

// guardedLoad is load, with a panic as its error.
func (l *localTool) guardedLoad(ctx context.Context, o Options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("load panicked: %v", p)
		}
	}()
	return l.load(ctx, o)
}

func (l *localTool) load(ctx context.Context, o Options) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(l.config) > maxConfig {
		return fmt.Errorf("config is larger than %d bytes", maxConfig)
	}
	if l.script != "" {
		l.manifest = &manifest{Executable: l.script}
	} else if l.manifest, err = readManifest(l.dir); err != nil {
		return err
	}
	path, err := l.executable()
	if err != nil {
		return fmt.Errorf("executable: %w", err)
	}
	if l.manifest.needsDescribe() {
		if err := l.describe(ctx, path, o); err != nil {
			return err
		}
	}
	return l.manifest.check()
}

// executable is the path to run, checked again each time it is asked for.
func (l *localTool) executable() (string, error) {
	path, err := trusted(l.dir, l.manifest.Executable)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	return path, runnable(path, info)
}

func (l *localTool) env(action string) []string {
	env := []string{actionVar + "=" + action}
	if l.config != nil {
		env = append(env, configVar+"="+string(l.config))
	}
	if action == actionExecute {
		env = append(env, l.toolbox.Env...)
	}
	return env
}

// argv is the executable with its argument. A script of a toolbox has none: it may
// be written for an agent that gives it none.
func (l *localTool) argv(path, action string) []string {
	if l.script != "" {
		return []string{path}
	}
	return []string{path, action}
}

func (l *localTool) describe(ctx context.Context, path string, o Options) error {
	if o.Describe == nil {
		return errors.New("only the executable itself can say its name and description, and it cannot be asked here; a module can have both in tool.json")
	}
	stdout, err := o.Describe(ctx, Describing{Args: l.argv(path, actionDescribe), Dir: l.dir, Env: l.env(actionDescribe)})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("describe: %w", err)
	case len(stdout) > MaxDescribed:
		return fmt.Errorf("describe answered with more than %d bytes", MaxDescribed)
	}
	return l.manifest.complete(stdout)
}

// tool is the module as everything else knows it. It runs a program, so it
// needs shell.run whatever else it declares, and nothing runs beside it.
func (l *localTool) tool(id, module string) tools.Tool {
	m := l.manifest
	tool := tools.Tool{
		Spec: tools.Spec{
			ID: id, Description: m.Description, Parameters: m.schema, Kind: m.Kind, ReadOnly: m.ReadOnly,
			Requires: capability.Union(m.Requires, capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}),
			Source:   tools.Source{Kind: tools.Module, Server: module},
			// Its own limit stands in for the general one.
			DisableTimeout: m.TimeoutMS > 0,
		},
		Run: l.run,
	}
	tool.Origin = l.behind
	if l.script != "" {
		l.box(&tool.Spec)
	}
	return tool
}
