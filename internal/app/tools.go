package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/transcript"
)

func newTools() *cobra.Command {
	var asJSON, servers bool
	var cwd string
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools: kind, source, requirements, why one is off",
		Long: `List the tools in the order in which the model is told of them: their ACP
kind, where they come from, what they require, and how they stand in a session
of the current directory: on, deferred (the model knows the name, finds more with
tool_search and calls them by name), or off with the reason. Scripts of your toolbox are asked what they are, and your
external providers are started; MCP servers only with --servers, and those of the
project only if you trust it. What cannot be used is said on standard error.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec := session.Spec{Client: session.Client{Sink: transcript.Discard, Questions: unaskedUser{}}}
			return withSession(cmd, cwd, spec, false, func(s *session.Session) error {
				ctx, cancel := context.WithTimeout(cmd.Context(), reachLimit)
				defer cancel()
				s.AwaitTools(ctx, servers)
				list := listTools(s)
				if asJSON {
					return printJSON(cmd.OutOrStdout(), list)
				}
				return printTools(cmd.OutOrStdout(), list)
			})
		},
	}
	cmd.Flags().BoolVar(&servers, "servers", false, "connect to the MCP servers and list their tools, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with descriptions and schemas")
	cmd.Flags().StringVar(&cwd, "cwd", "", "directory of the session (default: the current one)")
	return cmd
}

// unaskedUser stands for the user of an editor: with it the tools that ask questions are listed,
// and none is called.
type unaskedUser struct{ tools.Questioner }

// toolInfo is one tool as it is listed.
type toolInfo struct {
	ID          string                    `json:"id"`
	Locked      bool                      `json:"locked"`
	Kind        kinds.Kind                `json:"kind"`
	Source      string                    `json:"source"`
	State       string                    `json:"state"`
	Reason      string                    `json:"reason,omitempty"`
	Aliases     []string                  `json:"aliases,omitempty"`
	Requires    capability.RequirementSet `json:"requires"`
	Description string                    `json:"description"`
	Parameters  json.RawMessage           `json:"parameters"`
}

func listTools(s *session.Session) []toolInfo {
	var list []toolInfo
	for _, entry := range s.Tools() {
		status := s.ToolStatus(entry.ID)
		info := toolInfo{
			ID: entry.ID, Locked: slices.Contains(kinds.Locked(), entry.ID), Kind: kinds.Other, Source: sourceOf(entry), State: "on", Reason: status.Off,
			Requires: entry.Requires, Description: entry.Description, Parameters: entry.Schema(),
		}
		for _, alias := range entry.Aliases {
			info.Aliases = append(info.Aliases, alias.Name)
		}
		if entry.Kind.Valid() {
			info.Kind = entry.Kind
		}
		switch {
		case status.Off != "":
			info.State = "off"
		case status.Deferred:
			info.State = "deferred"
		}
		list = append(list, info)
	}
	return list
}

func sourceOf(entry *tools.Entry) string {
	switch {
	case entry.Source.Kind == "":
		return tools.Builtin
	case entry.Source.Server != "":
		return entry.Source.Kind + ":" + entry.Source.Server
	}
	return entry.Source.Kind
}

func printTools(out io.Writer, list []toolInfo) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tKIND\tSOURCE\tSTATE\tREQUIRES\tARGUMENTS")
	for _, tool := range list {
		id, state := tool.ID, tool.State
		if tool.Locked {
			id += " *"
		}
		if tool.Reason != "" {
			state += ": " + tool.Reason
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", id, tool.Kind, tool.Source, state, requirements(tool.Requires), arguments(tool.Parameters))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "\n* locked: every agent of this kind has it")
	return err
}

// requirements is a requirement set in one line.
func requirements(set capability.RequirementSet) string {
	var parts []string
	add := func(name string, patterns []string) {
		if len(patterns) > 0 {
			parts = append(parts, name+" "+strings.Join(patterns, ","))
		}
	}
	add(capability.CapFSRead, set.FS.Read)
	add(capability.CapFSWrite, set.FS.Write)
	add(capability.CapNetFetch, set.Net.Hosts)
	for _, run := range set.Shell {
		parts = append(parts, capability.CapShellRun+" "+run.Cmd)
	}
	parts = append(parts, set.Capabilities...)
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, "; ")
}

// arguments names the arguments of a schema; optional ones end in "?".
func arguments(parameters json.RawMessage) string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(parameters, &schema) != nil {
		return "-"
	}
	names := append([]string(nil), schema.Required...)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) {
			names = append(names, name+"?")
		}
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}
