package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/permissions"
)

// checkUser checks what the types cannot, and brings paths and the address to their one
// form. Fields that the file does not set hold valid defaults.
func (s Sources) checkUser(f *file, cfg *Config) error {
	for _, check := range []func() error{
		func() error { return f.checkModel(&cfg.Model) },
		func() error { return f.checkProviders(cfg.Providers) },
		func() error { return f.checkLimits(cfg.Limits) },
		func() error { return f.checkSubagents(cfg.Subagents) },
		func() error { return f.checkAgents(cfg.Agents) },
		func() error { return f.problem("mode", oneOf(cfg.Mode, ModeAsk, ModeCode, ModePlan, ModeAuto)) },
		func() error { return f.problem("log.level", oneOf(cfg.Log.Level, logLevels()...)) },
		func() error { return f.problem("rules.profile", oneOf(cfg.Rules.Profile, "", ProfileDev)) },
		func() error { return f.checkSandbox(cfg.Sandbox) },
		func() error { return f.checkPassed(cfg.Environment) },
		func() error { return f.checkRules(&cfg.Rules) },
		func() error { return f.checkTools(cfg) },
		func() error { return f.checkEnvironment("toolbox.env", cfg.Toolbox.Env) },
		func() error { return f.checkExternal(cfg.External) },
		func() error { return f.checkMCP(cfg.MCP.Servers) },
		func() error {
			return f.problem("mcp.network", oneOf(cfg.MCP.Network, "", MCPNetworkOpen, MCPNetworkAsk))
		},
		func() error { return f.problem("mcp.tokens", oneOf(cfg.MCP.Tokens, "", TokensKeyring, TokensFile)) },
		func() error { return s.checkWatchdog(f, &cfg.Watchdog) },
		func() error { return f.checkAudit(cfg.Audit) },
		func() error { return f.checkSessions(cfg.Sessions) },
		func() error { return s.checkPaths(f, cfg) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) checkModel(m *Model) error {
	if err := f.problem("model.api", oneOf(m.API, "", APIChat, APIResponses, APIAnthropic)); err != nil {
		return err
	}
	url, problem := BaseURL(m.BaseURL)
	if problem != "" {
		return f.errorf("model.base_url", "%s", problem)
	}
	m.BaseURL = url
	if err := f.checkHeaders("model", m.Headers); err != nil {
		return err
	}
	if strings.ContainsAny(m.APIKeyEnv, "= \t\r\n\x00") {
		return f.errorf("model.api_key_env", "expects the name of a variable; the key itself belongs in model.api_key")
	}
	if err := f.checkHeaderValue("model.api_key", m.APIKey); err != nil {
		return err
	}
	for _, n := range []struct {
		field string
		value int
	}{{"model.window", m.Window}, {"model.max_output", m.MaxOutput}} {
		if n.value < 0 {
			return f.errorf(n.field, "must not be negative, found %d", n.value)
		}
	}
	if err := f.checkWindows("model", m.Windows); err != nil {
		return err
	}
	if t := m.Temperature; t != nil && (*t < 0 || *t > 2) {
		return f.errorf("model.temperature", "must be between 0 and 2, found %v", *t)
	}
	if err := f.problem("model.text_calls", oneOf(m.TextCalls, "", "auto", "on", "off")); err != nil {
		return err
	}
	return f.checkPrices("model", m.Prices)
}

// isHeaderName reports whether a name is a token of HTTP.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func (f *file) checkHeaderValue(field string, value Secret) error {
	if strings.ContainsFunc(value.Reveal(), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return f.errorf(field, "holds a character that an HTTP header cannot carry, such as a line break")
	}
	return nil
}

func (f *file) checkLimits(l Limits) error {
	if err := f.problem("limits.profile", oneOf(l.Profile, ProfileWindow, ProfileCanonical, ProfileAmp)); err != nil {
		return err
	}
	if b := l.ResultSize.Bytes; b < leastResultSize || b > mostResultSize {
		return f.errorf("limits.result_size", "must be between %v and %v, found %v", Size{leastResultSize}, Size{mostResultSize}, l.ResultSize)
	}
	if l.MaxSteps < 1 || l.MaxSteps > mostSteps {
		return f.errorf("limits.max_steps", "must be between 1 and %d, found %d", mostSteps, l.MaxSteps)
	}
	if l.Concurrent < 1 || l.Concurrent > mostConcurrent {
		return f.errorf("limits.concurrent", "must be between 1 and %d, found %d", mostConcurrent, l.Concurrent)
	}
	if l.ToolTimeout.Duration == 0 {
		return f.errorf("limits.tool_timeout", "must be longer than nothing")
	}
	if l.Jobs < 0 || l.Jobs > mostJobs {
		return f.errorf("limits.jobs", "must be between 0 and %d, found %d", mostJobs, l.Jobs)
	}
	if l.JobTime.Duration == 0 {
		return f.errorf("limits.job_time", "must be longer than nothing")
	}
	if l.SearchCalls < 0 {
		return f.errorf("limits.search_calls", "must not be negative, found %d", l.SearchCalls)
	}
	if l.SearchTimeout.Duration == 0 {
		return f.errorf("limits.search_timeout", "must be longer than nothing")
	}
	if b := l.Memory.Bytes; b > 0 && b < leastMemory {
		return f.errorf("limits.memory", "must be at least %v", Size{leastMemory})
	}
	if b := l.ReadingMemory.Bytes; b > 0 && b < leastMemory {
		return f.errorf("limits.reading_memory", "must be at least %v", Size{leastMemory})
	}
	if l.Processes > 0 && l.Processes < leastProcesses {
		return f.errorf("limits.processes", "must be 0 or at least %d, found %d", leastProcesses, l.Processes)
	}
	if l.SidecarBytes < 0 {
		return f.errorf("limits.sidecar_bytes", "must not be negative, found %d", l.SidecarBytes)
	}
	return nil
}

// checkRules also notes for each rule where it stands.
func (f *file) checkRules(rules *Rules) error {
	return rules.all(func(field string, r *Rule) error {
		if err := permissions.CheckPermission(r.Permission); err != nil {
			return f.errorf(field, "%w", err)
		}
		r.Source = f.at(field)
		return nil
	})
}

func (f *file) checkNames(field string, names []string) error {
	for i, name := range names {
		if name == "" {
			return f.errorf(fmt.Sprintf("%s[%d]", field, i), "expects the id of a tool, found an empty text")
		}
	}
	return nil
}

// checkPaths makes every path absolute.
func (s Sources) checkPaths(f *file, cfg *Config) error {
	clean := func(field string, path *string) error {
		abs := *path
		if rest, home := strings.CutPrefix(filepath.ToSlash(abs), "~"); home && (rest == "" || rest[0] == '/') {
			if s.HomeDir == "" {
				return f.errorf(field, "starts with ~, but the home directory is not known; write the whole path")
			}
			abs = filepath.Join(s.HomeDir, rest)
		}
		if !filepath.IsAbs(abs) {
			return f.errorf(field, "expects an absolute path or one that starts with ~/, found %q", *path)
		}
		*path = filepath.Clean(abs)
		return nil
	}
	for _, roots := range []struct {
		field string
		paths []string
	}{{"roots.read", cfg.Roots.Read}, {"roots.write", cfg.Roots.Write}} {
		for i := range roots.paths {
			if err := clean(fmt.Sprintf("%s[%d]", roots.field, i), &roots.paths[i]); err != nil {
				return err
			}
		}
	}
	for _, single := range []struct {
		field string
		path  *string
	}{{"search.ripgrep", &cfg.Search.Ripgrep}, {"log.file", &cfg.Log.File}} {
		if *single.path == "" {
			continue
		}
		if err := clean(single.field, single.path); err != nil {
			return err
		}
	}
	paths := cfg.toolPaths()
	for _, field := range sortedKeys(paths) {
		if *paths[field] == "" {
			continue
		}
		if err := clean(field, paths[field]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) problem(field, problem string) error {
	if problem == "" {
		return nil
	}
	return f.errorf(field, "%s", problem)
}

func oneOf(value string, values ...string) string {
	if slices.Contains(values, value) {
		return ""
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }) // for which one leaves the field out
	return fmt.Sprintf("must be one of %s, found %q", strings.Join(values, ", "), value)
}

// BaseURL returns the address of a server in its one form, or what is wrong with it. The text of the
// address is not part of the answer where it can hold a password.
func BaseURL(text string) (address, problem string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", "is no valid address; expects one such as http://localhost:11434/v1"
	case u.User != nil:
		return "", "must not hold a user or a password; put the key into model.api_key or " + EnvAPIKey
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Sprintf("expects an http or https address such as http://localhost:11434/v1, found %q", text)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", "must not hold a query or a fragment; put such settings into model.headers or model.extra_body"
	}
	return strings.TrimRight(u.String(), "/"), ""
}

// appendNew appends what is not yet in the list.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
