package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/config"
	"acp-agent/internal/cgroup"
	"acp-agent/internal/network"
	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
)

// settings are what the user, and the project in a directory, configured.
func (c *core) settings(cwd string) (session.Settings, error) {
	cfg, err := c.load(cwd)
	if err == nil {
		err = cfg.CheckNames(
			func(name string) bool {
				return knownPermission(name) || name == permissions.NetworkTool || name == permissions.GitLoginTool || name == permissions.GHLoginTool || c.mayBeMounted(name)
			},
			func(name string) bool { return knownTool(name) || c.mayBeMounted(name) })
	}
	if err == nil {
		err = checkSecretNames(cfg.SecretFiles.Names)
	}
	if err != nil {
		return session.Settings{}, err
	}
	if c.everyTool {
		cfg.Tools.Search.Enabled = false
	}
	own, offered := ownServers(cfg), offeredServers(cfg)
	editorAsks, _ := cfg.MCP.OthersAskHosts()
	c.redactServerKeys(own, offered)
	delegation := subagents(cfg)
	delegation.Price = c.price(cfg)
	return session.Settings{
		Mode: permissions.Mode(cfg.Mode), Agent: cfg.Agent, Limits: limits(cfg), MaxSteps: cfg.Limits.MaxSteps,
		Rules: session.Rules{
			User: slices.Concat(userRules(cfg.Rules), serverRules(cfg.MCP.Servers)), Project: permissionRules(cfg.Project),
			Offered: permissionRules(config.Rules{Allow: cfg.Offered}), Trusting: trusting(cfg),
		},
		Reach: session.Reach{
			ReadRoots: cfg.Roots.Read, WriteRoots: cfg.Roots.Write, SecretNames: cfg.SecretFiles.Names, Hosts: hosts(cfg.Web),
			Sandbox: requiredKind(cfg.Sandbox.Level), Network: cfg.Sandbox.Network, OfferOutside: cfg.Sandbox.OfferOutside, Environment: cfg.Environment, Editor: cfg.Editor.FS,
		},
		Offering: session.Offering{
			Disabled:  disabled(cfg.Tools.Disable, cfg.Subagents.Enabled),
			Threshold: threshold(cfg.Tools.Search), ListedSize: listedSize(cfg.Tools.Search), Always: cfg.Tools.Always,
		},
		Sources: session.Sources{
			Providers: c.providers(cfg.External), Servers: own, OfferedServers: offered, EditorUnconfined: cfg.MCP.EditorUnconfined(), EditorAsksHosts: editorAsks,
		},
		Watchdog: c.watchdog(cfg.Watchdog, cfg.Roots.Write), Subagents: delegation, Audit: c.audit(cfg.Audit),
	}, nil
}

// checkSecretNames finds a pattern that means nothing.
func checkSecretNames(patterns []string) error {
	for i, pattern := range patterns {
		if err := permissions.CheckNamePattern(pattern); err != nil {
			return &config.Error{Field: fmt.Sprintf("secrets.names[%d]", i), Problem: fmt.Sprintf("%v, found %q", err, pattern)}
		}
	}
	return nil
}

// mayBeMounted reports whether a name is that of a tool that this process has, such as one of a
// module, or could be that of a module that failed to mount or that has not been asked for its
// name yet. A module's fault must neither keep a session from opening nor drop a deny that names
// its tool (R8).
func (c *core) mayBeMounted(name string) bool {
	return record.Value(c.tape, "may be mounted", name, func() bool { return c.mayBeMountedNow(name) })
}

func (c *core) mayBeMountedNow(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		return false
	}
	if _, ok := c.set.registry.Get(name); ok {
		return true
	}
	_, err := mount.ToolID(name)
	return err == nil && (c.set.mounting.NeedsAsking() || len(c.set.mounting.Failures()) > 0)
}

// knownTool reports whether a name in tools.disable can mean a tool.
func knownTool(name string) bool {
	return name == "*" || name == "mcp:*" || builtin.Known(name) || kinds.Foreign(name)
}

// knownPermission reports whether a rule's name can mean something.
func knownPermission(name string) bool {
	return knownTool(name) || slices.Contains(capability.Names(), name) || strings.Contains(name, "*")
}

func permissionRules(from config.Rules) []permissions.Rule {
	var rules []permissions.Rule
	add := func(list []config.Rule, action capability.Action) {
		for _, r := range list {
			rules = append(rules, permissions.Rule{Permission: r.Permission, Pattern: r.Pattern, Action: action, Source: r.Source})
		}
	}
	add(from.Allow, capability.Allow)
	add(from.Ask, capability.Ask)
	add(from.Deny, capability.Deny)
	return rules
}

// disabled says which tools are off, in the words of R9.
func disabled(names []string, subagents bool) func(tool string) (string, bool) {
	off := map[string]bool{}
	for _, name := range names {
		off[name] = true
	}
	return func(tool string) (string, bool) {
		switch {
		case off["*"]:
			return "All tools disabled", true
		case off[tool]:
			return "Tool explicitly disabled", true
		case off["mcp:*"] && strings.HasPrefix(tool, "mcp__"):
			return "MCP tools disabled", true
		case !subagents && forSubagents(tool):
			return "Sub-agents not enabled", true
		}
		return "", false
	}
}

// forSubagents reports whether a tool is useless without subagents.
func forSubagents(tool string) bool {
	return slices.Contains([]string{"task", "finder", "oracle", "librarian", "kraken", "task_list"}, tool)
}

// threshold is how many tools are listed to the model before some have to be searched for; 0
// means any number (R87).
func threshold(search config.ToolSearch) int {
	if !search.Enabled {
		return 0
	}
	return search.Threshold
}

// listedSize is how many bytes tools may take of a request. It is at least 1: a setting of 0 means
// that none is listed, while 0 has no bound in session.Offering.
func listedSize(search config.ToolSearch) int { return max(1, int(search.ListedSize.Bytes)) }

// hosts are the hosts that may be fetched from without a question: the listed ones, and the hosts
// of the granted pairs.
func hosts(web config.Web) []string {
	var list []string
	for _, host := range web.Hosts {
		// In the form in which hosts are compared (N2); a pattern stays as it is.
		if target, err := network.Parse("http://" + host + "/"); err == nil {
			host = target.Host
		}
		list = append(list, host)
	}
	for _, pair := range web.Private {
		if host, _, err := net.SplitHostPort(pair); err == nil {
			list = append(list, host)
		}
	}
	return list
}

func limits(cfg *config.Config) tools.Limits {
	l, from := tools.CanonicalLimits(), cfg.Limits
	switch from.Profile {
	case config.ProfileWindow:
		l.ModelBytes = int(from.ResultSize.Bytes)
	case config.ProfileAmp:
		l = tools.AmpLimits()
	}
	l.BashTimeout = from.BashTimeout.Duration
	if from.ToolTimeout.Duration > 0 {
		l.Timeout = from.ToolTimeout.Duration
	}
	if from.Concurrent > 0 {
		l.Concurrent = from.Concurrent
	}
	l.SidecarBytes = from.SidecarBytes
	l.Jobs, l.JobAge, l.JobBytes = from.Jobs, from.JobTime.Duration, int64(from.JobOutput.Bytes)
	l.ConnectAsk = cfg.Network.AskTimeout.Duration
	l.SearchCalls, l.SearchTimeout = from.SearchCalls, from.SearchTimeout.Duration
	l.Command.Memory = from.Memory.Of(cgroup.System().Total())
	l.Command.ReadingMemory, l.Command.ReadingTimeout = from.ReadingMemory.Bytes, from.ReadingTimeout.Duration
	l.Command.Processes, l.Command.FileSize = from.Processes, from.FileSize.Bytes
	return l
}

func plainHeaders(headers map[string]config.Secret) map[string]string {
	plain := make(map[string]string, len(headers))
	for name, value := range headers {
		plain[name] = value.Reveal()
	}
	return plain
}

func extraBody(from map[string]json.RawMessage) map[string]any {
	body := make(map[string]any, len(from))
	for name, value := range from {
		body[name] = value
	}
	return body
}

// windows are the configured context windows by model; model.window counts for
// the configured model.
func windows(from config.Model, name string) map[string]int {
	known := maps.Clone(from.Windows)
	if known == nil {
		known = map[string]int{}
	}
	if _, set := known[name]; !set && from.Window > 0 {
		known[name] = from.Window
	}
	return known
}

func images(from config.Model, name string) map[string]bool {
	if from.Images == nil {
		return nil
	}
	return map[string]bool{name: *from.Images}
}
