package config

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Tools says which tools there are and which of them the model is told of.
type Tools struct {
	// Disable lists tool ids that are left out, the user's and the project's.
	Disable []string `json:"disable"`
	// Always lists extension tools that the model is told of from the start,
	// instead of having to look for them.
	Always []string `json:"always"`
	// Search configures tool_search.
	Search ToolSearch `json:"search"`
	// Mount is the mount plan: tools from modules, and settings of built-in ones
	// (R8).
	Mount []Mount `json:"mount"`
}

// ToolSearch says which tools are left out of the requests, and have to be looked for (R87).
type ToolSearch struct {
	// Enabled turns it on; without it every tool is told of.
	Enabled bool `json:"enabled"`
	// Threshold is how many tools there may be beside the locked ones before the agent's
	// own are left out.
	Threshold int `json:"threshold"`
	// ListedSize is what the tools from elsewhere may take of a request before they are
	// left out, and what the agent's own further ones may.
	ListedSize Size `json:"listed_size"`
	// MaxMatches is the most that one search finds.
	MaxMatches int `json:"max_matches"`
}

// Mount is one entry of the mount plan.
type Mount struct {
	// Module names the module; Source is "builtin" or a local directory.
	Module string `json:"module"`
	Source string `json:"source"`
	// Config is the module's own, a JSON object; nil means that there is none.
	Config json.RawMessage `json:"config"`
	// At is the file, line and column where the entry stands, for messages.
	At string `json:"-"`
}

// Search configures glob, grep and web_search.
type Search struct {
	// Ripgrep is the absolute path of a ripgrep to use; empty means the built-in search.
	Ripgrep string `json:"ripgrep"`
	// Providers are those of web_search; a session keeps to one of them (R81).
	Providers []SearchProvider `json:"providers"`
}

// SearchProvider is a web search service.
type SearchProvider struct {
	// Type is "searxng", "brave", "tavily", or "scripted" for tests.
	Type string `json:"type"`
	// URL is the address of a server of one's own; others have their own default.
	URL string `json:"url"`
	// APIKey is the key that is sent.
	APIKey Secret `json:"api_key"`
	// APIKeyEnv names the variable whose value, if set, is used instead of APIKey.
	APIKeyEnv string `json:"api_key_env"`
	// File holds the answers of a scripted provider.
	File string `json:"file"`
}

// Web configures web_fetch.
type Web struct {
	// Hosts are hosts that may be fetched from without a question.
	Hosts []string `json:"hosts"`
	// Private are single "host:port" pairs that may be fetched from although
	// their address is not public.
	Private []string `json:"private"`
}

// Skills says where else skills are.
type Skills struct {
	// Paths are directories of skills.
	Paths []string `json:"paths"`
	// URLs are https addresses, each of one SKILL.md.
	URLs []string `json:"urls"`
}

// Check is a command that the check tool runs.
type Check struct {
	Name string `json:"name"`
	// Cmd is a command for the shell.
	Cmd string `json:"cmd"`
}

// The shipped figures of tool_search (R87).
const (
	defaultThreshold  = 20
	defaultListedSize = 4 << 10
	defaultMaxMatches = 10
)

func defaultToolSearch() ToolSearch {
	return ToolSearch{Enabled: true, Threshold: defaultThreshold, ListedSize: Size{defaultListedSize}, MaxMatches: defaultMaxMatches}
}

func (f *file) checkTools(cfg *Config) error {
	if err := f.checkNames("tools.disable", cfg.Tools.Disable); err != nil {
		return err
	}
	if err := f.checkNames("tools.always", cfg.Tools.Always); err != nil {
		return err
	}
	if s := cfg.Tools.Search; s.Threshold < 1 {
		return f.errorf("tools.search.threshold", "must be 1 or more, found %d", s.Threshold)
	} else if s.MaxMatches < 1 || s.MaxMatches > 100 {
		return f.errorf("tools.search.max_matches", "must be between 1 and 100, found %d", s.MaxMatches)
	}
	if err := f.checkMount(cfg.Tools.Mount); err != nil {
		return err
	}
	for i, c := range cfg.Checks {
		if strings.TrimSpace(c.Name) == "" || strings.TrimSpace(c.Cmd) == "" {
			return f.errorf(fmt.Sprintf("checks[%d]", i), "needs a name and a cmd")
		}
	}
	for _, programs := range []struct {
		field string
		of    map[string][]string
	}{{"format", cfg.Format}, {"lsp", cfg.LSP}} {
		for _, ext := range sortedKeys(programs.of) {
			if !strings.HasPrefix(ext, ".") || len(programs.of[ext]) > 0 && programs.of[ext][0] == "" {
				return f.errorf(programs.field+"."+ext, `expects the end of a file's name, such as ".go", and a program with its arguments`)
			}
		}
	}
	return f.checkWeb(cfg)
}

// checkMount checks the mount plan, and notes for each entry where it stands.
func (f *file) checkMount(plan []Mount) error {
	for i, m := range plan {
		field := fmt.Sprintf("tools.mount[%d]", i)
		if m.Module == "" {
			return f.errorf(field, "has no module")
		}
		if len(m.Config) > 0 && m.Config[0] != '{' {
			return f.errorf(field+".config", "expects an object")
		}
		plan[i].At = f.at(field)
	}
	return nil
}

func (f *file) checkWeb(cfg *Config) error {
	for i, p := range cfg.Search.Providers {
		field := fmt.Sprintf("search.providers[%d]", i)
		if p.Type == "" {
			return f.errorf(field, "has no type")
		}
		if err := f.checkHeaderValue(field+".api_key", p.APIKey); err != nil {
			return err
		}
	}
	for i, pair := range cfg.Web.Private {
		host, port, err := net.SplitHostPort(pair)
		if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || host == "" || n < 1 || n > 65535 {
			return f.errorf(fmt.Sprintf("web.private[%d]", i), `expects a host and a port, such as "localhost:8080", found %q`, pair)
		}
	}
	for i, host := range cfg.Web.Hosts {
		if host == "" || strings.ContainsAny(host, "/ \t") {
			return f.errorf(fmt.Sprintf("web.hosts[%d]", i), `expects a host such as "go.dev", found %q`, host)
		}
	}
	for i, url := range cfg.Skills.URLs {
		if !strings.HasPrefix(url, "https://") {
			return f.errorf(fmt.Sprintf("skills.urls[%d]", i), "expects an https address, found %q", url)
		}
	}
	return nil
}

// toolPaths are the paths of the tools' settings, by field.
func (cfg *Config) toolPaths() map[string]*string {
	paths := cfg.toolboxPaths()
	for i := range cfg.Skills.Paths {
		paths[fmt.Sprintf("skills.paths[%d]", i)] = &cfg.Skills.Paths[i]
	}
	for i := range cfg.Search.Providers {
		paths[fmt.Sprintf("search.providers[%d].file", i)] = &cfg.Search.Providers[i].File
	}
	return paths
}

// loadKeys takes the keys of search providers from the environment.
func (s Sources) loadKeys(cfg *Config) {
	cfg.Search.Providers = slices.Clone(cfg.Search.Providers)
	for i := range cfg.Search.Providers {
		p := &cfg.Search.Providers[i]
		if key := s.getenv(p.APIKeyEnv); p.APIKeyEnv != "" && key != "" {
			p.APIKey = NewSecret(key)
		}
	}
}

// MountDir is the directory that relative sources of the mount plan start from:
// that of the user's file.
func (s Sources) MountDir() string { return filepath.Dir(s.UserFile()) }
