package mount

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"acp-agent/capability"
	"acp-agent/tools"
)

// MaxDescribed bounds, in bytes, what an executable that is asked to describe itself
// may answer. Options.Describe need not keep more than one byte above it.
const MaxDescribed = 256 << 10

const (
	// describeTime is how long an executable may take to describe itself.
	describeTime = 20 * time.Second
	// cleanupTime is how long all together may take to clean up: the agent's end waits for
	// them.
	cleanupTime = time.Second
	// maxConfig bounds a module's config, which it gets as one variable.
	maxConfig = 32 << 10
)

// The variables of the protocol of local modules.
const (
	actionVar = "TOOLBOX_ACTION"
	configVar = "TOOLBOX_CONFIG"
	// agentVar names the agent that runs the executable, threadVar for which conversation.
	agentVar  = "AGENT"
	threadVar = "AGENT_THREAD_ID"

	actionDescribe = "describe"
	actionExecute  = "execute"
	actionCleanup  = "cleanup"
)

// The causes of contexts that ended at describeTime and cleanupTime.
var (
	errSlowDescribe = fmt.Errorf("describe took longer than %s", describeTime)
	errSlowCleanup  = fmt.Errorf("cleanup had no more than %s, for all modules together", cleanupTime)
)

// localTool is the module in a directory with tool.json, or a script of a toolbox,
// see the package comment. dir is absolute with its links resolved. It is read,
// asked what it is if no file says that, then mounted.
type localTool struct {
	dir      string
	config   json.RawMessage
	manifest *manifest
	// script is the name of a toolbox's script in dir; empty for a module.
	script  string
	toolbox Toolbox
	// absent says that it has no use here, and mounts nothing.
	absent bool
	// called says that there was a call, so that there may be something to clean up.
	called atomic.Bool
	o      Options
}

// mount is the module's [Module]; it has its config already.
func (l *localTool) mount(_ context.Context, c *Coordinator, _ json.RawMessage) (Mounted, error) {
	if l.absent {
		return Mounted{}, nil
	}
	id, err := l.id()
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
	mounted := Mounted{Tool: &tool}
	if l.manifest.Cleanup {
		mounted.Cleanup = func() error { return l.cleanup(c.cleanupDeadline()) }
	}
	return mounted, nil
}

// cleanup lets an executable that was called clean up. What it left on this machine is gone
// by then; what it started elsewhere it can end.
func (l *localTool) cleanup(deadline time.Time) error {
	if !l.called.Load() || l.o.Describe == nil {
		return nil
	}
	path, err := l.executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithDeadlineCause(context.Background(), deadline, errSlowCleanup)
	defer cancel()
	_, err = l.o.Describe(ctx, Describing{
		Args: l.argv(path, actionCleanup), Dir: l.dir, Env: l.env(actionCleanup, ""), Network: !l.manifest.Requires.Net.IsZero(),
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// id is that of the module's tool. Those of a toolbox have its prefix, said or not.
func (l *localTool) id() (string, error) {
	id, err := ToolID(l.manifest.Name)
	if err == nil && l.script != "" {
		id = ToolboxPrefix + strings.TrimPrefix(id, ToolboxPrefix)
	}
	return id, err
}

// read reads what says of the module what it is, as far as a file does.
func (l *localTool) read() (err error) {
	if len(l.config) > maxConfig {
		return fmt.Errorf("config is larger than %d bytes", maxConfig)
	}
	if l.script != "" {
		l.manifest = &manifest{Executable: l.script}
		return nil
	}
	l.manifest, err = readManifest(l.dir)
	return err
}

// ready checks a module of which all is known.
func (l *localTool) ready() error {
	if _, err := l.executable(); err != nil {
		return fmt.Errorf("executable: %w", err)
	}
	return l.manifest.check()
}

// ask asks the executable what it is. A panic is an error.
func (l *localTool) ask(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("describe panicked: %v", p)
		}
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	path, err := l.executable()
	if err != nil {
		return fmt.Errorf("executable: %w", err)
	}
	if err := l.describe(ctx, path); err != nil || l.absent {
		return err
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
	return path, checkRunnable(path, info)
}

// env are the variables of one run. session is the id of the session that a call is of,
// and empty for describe.
func (l *localTool) env(action, session string) []string {
	env := []string{actionVar + "=" + action, agentVar + "=acp-agent"}
	if l.config != nil {
		env = append(env, configVar+"="+string(l.config))
	}
	if action == actionExecute {
		env = append(env, threadVar+"="+session)
		env = append(env, l.toolbox.Env...) // the user's settings come last
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

func (l *localTool) describe(ctx context.Context, path string) error {
	if l.o.Describe == nil {
		return errors.New("only the executable itself can say its name and description, and it cannot be asked here; a module can have both in tool.json")
	}
	stdout, err := l.o.Describe(ctx, Describing{Args: l.argv(path, actionDescribe), Dir: l.dir, Env: l.env(actionDescribe, "")})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("describe: %w", err)
	case len(stdout) > MaxDescribed:
		return fmt.Errorf("describe answered with more than %d bytes", MaxDescribed)
	}
	l.absent = string(bytes.TrimSpace(stdout)) == noUse
	if l.absent {
		return nil
	}
	return l.manifest.complete(stdout)
}

// tool is the [tools.Tool] of the module. It runs a program, so it
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
	tool.Origin = l.provenance
	if l.script != "" {
		l.markToolbox(&tool.Spec)
	}
	return tool
}
