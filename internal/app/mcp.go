package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/config"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/mcp/oauth"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/transcript"
)

// ownServers are the user's MCP servers that are on, and offeredServers those of the project, each of
// which is confined.
func ownServers(cfg *config.Config) []mcp.Server {
	list := servers(cfg.MCP.Servers, "the configuration")
	for i := range list {
		from := cfg.MCP.Servers[list[i].Name]
		list[i].Unconfined, list[i].Hosts, list[i].AsksHosts = cfg.MCP.Unconfined(from), from.Network.Hosts, cfg.MCP.AsksHosts(from)
	}
	return list
}

func offeredServers(cfg *config.Config) []mcp.Server {
	list := servers(cfg.OfferedServers, "the project")
	for i := range list {
		_, list[i].AsksHosts = cfg.MCP.OthersAskHosts()
	}
	return list
}

// servers are the configured MCP servers that are on, by name.
func servers(configured map[string]config.MCPServer, origin string) []mcp.Server {
	var list []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		from := configured[name]
		if from.Off() {
			continue
		}
		server := mcp.Server{
			Name: name, Origin: origin, URL: from.URL, Header: plainHeaders(from.Headers), SSE: from.SSE,
			Timeout: time.Duration(from.TimeoutMS) * time.Millisecond, Anonymous: from.OAuth.Off, NoRoots: from.NoRoots(),
			Client: oauth.Client{
				ID: from.OAuth.ClientID, Secret: from.OAuth.ClientSecret.Reveal(), Issuer: from.OAuth.Issuer, Scopes: from.OAuth.Scopes,
			},
		}
		if len(from.Command) > 0 {
			server.Command, server.Args = from.Command[0], from.Command[1:]
		}
		for _, variable := range slices.Sorted(maps.Keys(from.Env)) {
			server.Env = append(server.Env, variable+"="+from.Env[variable].Reveal())
		}
		list = append(list, server)
	}
	return list
}

// reachLimit bounds how long a command waits for MCP servers and other sources of tools.
const reachLimit = 35 * time.Second

func newMCP() *cobra.Command {
	var asJSON bool
	var cwd string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Connect to the MCP servers: state, tools, prompts, resources, last error",
		Long: `Connect to the MCP servers of the configuration, and to those of the project
in the current directory if you trust it, and say how each stands: its state,
its tools, prompts and resources, and why it failed.

Exit code: 0 all servers are ready; 1 one is not; 2 wrong usage.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec := session.Spec{Client: session.Client{Sink: transcript.Discard}}
			return withSession(cmd, cwd, spec, false, func(s *session.Session) error {
				ctx, cancel := context.WithTimeout(cmd.Context(), reachLimit)
				defer cancel()
				s.AwaitServers(ctx)
				s.AwaitLists(ctx)
				return printServers(cmd.OutOrStdout(), s.Servers(), asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.PersistentFlags().StringVar(&cwd, "cwd", "", "directory of the session (default: the current one)")
	cmd.AddCommand(newMCPLogin(&cwd), newMCPLogout(&cwd))
	return cmd
}

// serverInfo is one server as it is listed.
type serverInfo struct {
	Name      string            `json:"name"`
	Origin    string            `json:"origin"`
	Transport string            `json:"transport"`
	Place     string            `json:"place"`
	State     mcp.State         `json:"state"`
	Problem   string            `json:"problem,omitempty"`
	Ignored   int               `json:"ignored_lines,omitempty"`
	Hosts     []string          `json:"network,omitempty"`
	AsksHosts bool              `json:"asks_hosts,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Tools     map[string]string `json:"tools"`   // the server's names by id
	Prompts   map[string]string `json:"prompts"` // the server's names by command
	Resources []mcp.Resource    `json:"resources"`
	Templates []mcp.Resource    `json:"templates"`
	Dropped   []droppedInfo     `json:"dropped,omitempty"`
}

// droppedInfo is something of a server that cannot be used.
type droppedInfo struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func printServers(out io.Writer, list []mcp.Status, asJSON bool) error {
	infos, ready := []serverInfo{}, true
	for _, s := range list {
		info := serverInfo{
			Name: s.Name, Origin: s.Origin, Transport: s.Transport, Place: s.Place, State: s.State, Problem: s.Problem,
			Ignored: s.Ignored, Hosts: s.Hosts, AsksHosts: s.AsksHosts, Notes: s.Notes, Tools: map[string]string{}, Prompts: map[string]string{},
			Resources: append([]mcp.Resource{}, s.Resources...), Templates: append([]mcp.Resource{}, s.Templates...),
		}
		for _, tool := range s.Tools {
			info.Tools[tool.ID] = tool.Tool
		}
		for _, prompt := range s.Prompts {
			info.Prompts[prompt.Command] = prompt.Name
		}
		for _, dropped := range s.Dropped {
			info.Dropped = append(info.Dropped, droppedInfo(dropped))
		}
		infos, ready = append(infos, info), ready && s.State == mcp.Ready
	}
	write := serversTable
	if asJSON {
		write = func(out io.Writer, list []serverInfo) error { return printJSON(out, list) }
	}
	err := write(out, infos)
	if err == nil && !ready {
		return &exitError{code: exitFailed}
	}
	return err
}

func serversTable(out io.Writer, list []serverInfo) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "no MCP servers: mcp.servers of the configuration names them")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tTOOLS\tPROMPTS\tRESOURCES\tTRANSPORT\tPLACE\tFROM")
	for _, s := range list {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\n", s.Name, s.State,
			len(s.Tools), len(s.Prompts), len(s.Resources)+len(s.Templates), s.Transport, s.Place, s.Origin)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, s := range list {
		fmt.Fprintf(out, "\n%s\n", s.Name)
		if s.Problem != "" {
			fmt.Fprintf(out, "  last error: %s\n", s.Problem)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(out, "  %s\n", note)
		}
		if s.State == mcp.SignIn {
			fmt.Fprintf(out, "  to sign in: acp-agent mcp login %s\n", permissions.QuoteArgs([]string{s.Name}))
		}
		for _, id := range slices.Sorted(maps.Keys(s.Tools)) {
			fmt.Fprintf(out, "  %s\n", id)
		}
		for _, command := range slices.Sorted(maps.Keys(s.Prompts)) {
			fmt.Fprintf(out, "  /%s\n", command)
		}
		for _, resource := range slices.Concat(s.Resources, s.Templates) {
			fmt.Fprintf(out, "  %s\n", resource.URI)
		}
		for _, dropped := range s.Dropped {
			fmt.Fprintf(out, "  left out: %s %s: %s\n", dropped.Kind, strconv.Quote(kinds.Visible(dropped.Name)), dropped.Reason)
		}
	}
	return nil
}
