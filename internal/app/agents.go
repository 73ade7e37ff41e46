package app

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/subagent"
)

func newAgents() *cobra.Command {
	var asJSON, check bool
	var cwd string
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents, and check their manifests",
		Long: `List the agents of a session in the current directory: the shipped ones, yours
and those of the project, with what each may use, and why one is off. Below it
stands what is wrong with their manifests, with file and line. Warnings are about
what has no effect; all else keeps an agent from being used.

Agents of a project that you do not trust are checked like others, and off.

Exit code: 0 done; 1 with --check, when an agent cannot be used; 2 wrong usage.`,
		Example: `  acp-agent agents
  acp-agent agents --check --cwd ~/src/shop`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			core := newCore(cmd.ErrOrStderr())
			core.scripted, core.readOnly = noModel{}, true
			defer core.Close()
			catalog, err := core.agents(cwd)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), agentList(catalog))
			} else {
				err = printAgents(cmd.OutOrStdout(), agentList(catalog))
			}
			if err == nil && check {
				return keptOut(catalog)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&check, "check", false, "exit with 1 when an agent cannot be used")
	cmd.Flags().StringVar(&cwd, "cwd", "", "directory of the session (default: the current one)")
	return cmd
}

// agents finds the agents that a session in a directory has.
func (c *core) agents(cwd string) (*subagent.Catalog, error) {
	dir, err := projects.Canonical(cwd)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("--cwd: %w", err)}
	}
	cfg, err := c.load(dir)
	if err != nil {
		return nil, err
	}
	if _, err := c.assemble(); err != nil { // the mounted tools are known then
		return nil, err
	}
	options := c.agentOptions(cfg.Agents)
	options.Project, options.Unbound = projects.Scan(dir)
	record, err := c.projects().Load(dir)
	if err != nil {
		c.warn(err)
	}
	options.Dir, options.Trusted = dir, record.Trusts(options.Project)
	return subagent.Load(options), nil
}

// agentOptions are where agents come from, without those of a project.
func (c *core) agentOptions(slots map[string]config.Agent) subagent.LoadOptions {
	return subagent.LoadOptions{
		Home: c.sources.HomeDir, ConfigHome: c.sources.ConfigDir, Secret: permissions.Secret,
		Known: func(tool string) bool { return knownTool(tool) || c.mayBeMounted(tool) }, Settings: agentSlots(slots), Tape: c.tape,
	}
}

func agentSlots(from map[string]config.Agent) map[string]subagent.Settings {
	slots := map[string]subagent.Settings{}
	for name, a := range from {
		slots[name] = subagent.Settings{Model: a.Model, Temperature: a.Temperature, MaxTokens: a.MaxOutput, Cycles: a.Cycles}
	}
	return slots
}

// agentInfo is one agent as it is listed.
type agentInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Mode        subagent.Mode   `json:"mode"`
	Hidden      bool            `json:"hidden"`
	Model       string          `json:"model,omitempty"` // empty: that of its parent
	Level       subagent.Level  `json:"level"`
	AllTools    bool            `json:"all_tools"`
	Tools       []string        `json:"tools"`
	Rules       []agentRule     `json:"rules"`
	Origin      subagent.Origin `json:"origin"`
	File        string          `json:"file,omitempty"`
	State       string          `json:"state"` // on, off
	Reason      string          `json:"reason,omitempty"`
}

type agentRule struct {
	Action     string `json:"action"`
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
}

// agentProblem is something that is wrong with a manifest.
type agentProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Warning bool   `json:"warning"`
}

// agentReport is the output of agents.
type agentReport struct {
	Agents   []agentInfo    `json:"agents"`
	Problems []agentProblem `json:"problems"`
}

func agentList(catalog *subagent.Catalog) agentReport {
	report := agentReport{Agents: []agentInfo{}, Problems: []agentProblem{}}
	for _, e := range catalog.Entries() {
		info := agentInfo{
			Name: e.Name, Description: e.Description, Mode: e.Mode, Hidden: e.Hidden, Model: e.Model, Level: e.Level,
			AllTools: e.Tools == nil, Tools: append([]string{}, e.Tools...), Rules: []agentRule{},
			Origin: e.Origin, File: e.File, State: "on", Reason: e.Unused,
		}
		for _, r := range e.Rules {
			info.Rules = append(info.Rules, agentRule{r.Action.String(), r.Permission, r.Pattern})
		}
		if e.Unused != "" {
			info.State = "off"
		}
		report.Agents = append(report.Agents, info)
	}
	for _, p := range catalog.Problems() {
		report.Problems = append(report.Problems, agentProblem(p))
	}
	return report
}

func printAgents(out io.Writer, report agentReport) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tMODE\tMODEL\tLEVEL\tTOOLS\tFROM\tSTATE")
	for _, a := range report.Agents {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Name, a.Mode, kinds.Line(orDash(a.Model), 60), a.Level, a.tools(), a.from(), a.state())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i, p := range report.Problems {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, p)
	}
	return nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (a agentInfo) tools() string {
	switch {
	case a.AllTools:
		return "all"
	case len(a.Tools) == 0:
		return "none"
	}
	return kinds.Line(strings.Join(a.Tools, ","), 120)
}

func (a agentInfo) from() string {
	if a.File == "" {
		return string(a.Origin)
	}
	return string(a.Origin) + " " + kinds.Line(filepath.ToSlash(a.File), 400)
}

func (a agentInfo) state() string {
	switch {
	case a.Reason != "":
		return a.State + ": " + kinds.Line(a.Reason, 200)
	case a.Hidden:
		return a.State + ", not offered to task"
	}
	return a.State
}

// String is the problem in one line.
func (p agentProblem) String() string {
	if p.Warning {
		p.Text = "warning: " + p.Text
	}
	return subagent.Problem(p).String()
}

// keptOut is the error of a check in which an agent cannot be used.
func keptOut(catalog *subagent.Catalog) error {
	bad := slices.DeleteFunc(catalog.Problems(), func(p subagent.Problem) bool { return p.Warning })
	switch len(bad) {
	case 0:
		return nil
	case 1:
		return &exitError{exitFailed, fmt.Errorf("there is 1 problem that keeps an agent from being used")}
	}
	return &exitError{exitFailed, fmt.Errorf("there are %d problems that keep agents from being used", len(bad))}
}
