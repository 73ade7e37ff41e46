package config

import (
	"fmt"
	"reflect"
	"strings"
)

// projectFile is all that a project may set (T1, T3): a repository that was just cloned
// is foreign, so its file can take away and never give. What it allows, and the MCP
// servers that it names, are an offer, for the user who trusts the project.
type projectFile struct {
	Rules     projectRules     `json:"rules"`
	Tools     projectTools     `json:"tools"`
	Limits    projectLimits    `json:"limits"`
	Subagents projectSubagents `json:"subagents"`
	MCP       projectMCP       `json:"mcp"`
	Secrets   SecretFiles      `json:"secrets"`
}

type projectTools struct {
	Disable []string `json:"disable"`
}

type projectRules struct {
	Allow []Rule `json:"allow"`
	Ask   []Rule `json:"ask"`
	Deny  []Rule `json:"deny"`
}

type projectLimits struct {
	MaxSteps     *int      `json:"max_steps"`
	BashTimeout  *Duration `json:"bash_timeout"`
	ToolTimeout  *Duration `json:"tool_timeout"`
	Concurrent   *int      `json:"concurrent"`
	SidecarBytes *int64    `json:"sidecar_bytes"`
	Jobs         *int      `json:"jobs"`
	JobTime      *Duration `json:"job_time"`
	JobOutput    *Size     `json:"job_output"`

	Memory         *Memory   `json:"memory"`
	ReadingMemory  *Size     `json:"reading_memory"`
	ReadingTimeout *Duration `json:"reading_timeout"`
	Processes      *uint64   `json:"processes"`
	FileSize       *Size     `json:"file_size"`
}

func (s Sources) loadProject(cfg *Config, path string) error {
	data, found, err := s.read(path)
	if err != nil || !found {
		return err
	}
	f := newFile(path, data)
	f.misplaced = func(field string) string {
		if !isField(reflect.TypeFor[Config](), field) {
			return ""
		}
		return fmt.Sprintf("is not for a project to set, which may only tighten; remove it here and set it in the user's file, %s", s.userFileName())
	}
	var p projectFile
	if err := f.decode(&p); err != nil {
		return err
	}
	rules := Rules{Allow: p.Rules.Allow, Ask: p.Rules.Ask, Deny: p.Rules.Deny}
	if err := f.checkRules(&rules); err != nil {
		return err
	}
	if err := f.checkNames("tools.disable", p.Tools.Disable); err != nil {
		return err
	}
	limits, subagents := cfg.Limits, cfg.Subagents
	limits.tighten(p.Limits)
	if err := f.checkLimits(limits); err != nil {
		return err
	}
	subagents.tighten(p.Subagents)
	if err := f.checkSubagents(subagents); err != nil {
		return err
	}
	if err := f.checkOffered(p.MCP.Servers); err != nil {
		return err
	}
	cfg.Limits, cfg.Subagents = limits, subagents
	cfg.OfferedServers = p.MCP.Servers
	cfg.Offered, rules.Allow = rules.Allow, nil
	cfg.Project = rules
	cfg.Tools.Disable = appendNew(cfg.Tools.Disable, p.Tools.Disable...)
	cfg.SecretFiles.Names = appendNew(cfg.SecretFiles.Names, p.Secrets.Names...)
	cfg.Files = append(cfg.Files, path)
	return nil
}

func (s Sources) userFileName() string {
	if path := s.UserFile(); path != "" {
		return path
	}
	return "acp-agent/config.jsonc in the config directory"
}

// isField reports whether a path names a field of the struct.
func isField(t reflect.Type, field string) bool {
	name, rest, deeper := strings.Cut(field, ".")
	if t.Kind() != reflect.Struct {
		return true // below a map: its names are the user's own
	}
	index, ok := fieldNames(t)[name]
	if !ok || !deeper {
		return ok
	}
	return isField(t.Field(index).Type, rest)
}
