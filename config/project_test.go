package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

func TestLoad_ProjectTightens(t *testing.T) {
	user := `{
		"limits": {"max_steps": 50, "concurrent": 4, "sidecar_bytes": 1000, "bash_timeout": "1m"},
		"rules": {"allow": ["bash(make *)"]}, "tools": {"disable": ["task"]},
	}`
	got := load(t, nil, map[string]string{userFile: user, projectFile: `{
		"limits": {"max_steps": 10, "concurrent": 60, "jobs": 1, "job_time": "25h", "job_output": "0", "sidecar_bytes": 0, "bash_timeout": "0s", "tool_timeout": "5s"},
		"rules": {"ask": ["bash(make deploy)"], "deny": ["read(secrets/**)"]},
		"tools": {"disable": ["task", "web_fetch"]},
	}`})

	want := load(t, nil, map[string]string{userFile: user})
	want.Limits.MaxSteps = 10
	want.Limits.SidecarBytes = 0
	want.Limits.Jobs = 1
	want.Limits.JobOutput.Bytes = 0
	want.Limits.ToolTimeout = config.Duration{Duration: 5 * time.Second}
	want.Project = config.Rules{
		Ask:  []config.Rule{{Permission: "bash", Pattern: "make deploy", Source: projectFile + ":3:21"}},
		Deny: []config.Rule{{Permission: "read", Pattern: "secrets/**", Source: projectFile + ":3:52"}},
	}
	want.Tools.Disable = []string{"task", "web_fetch"}
	want.Files = append(want.Files, projectFile)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// A project may lower what its commands use, in the form of the user's limit or in the
// other, and neither raise it nor take it away.
func TestLoad_ProjectCommandLimits(t *testing.T) {
	tests := []struct {
		name, user, project string
		total, want         uint64
	}{
		{"default", `{}`, `{}`, 1000, 750},
		{"share is lower", `{}`, `{"limits": {"memory": "50%"}}`, 1000, 500},
		{"share is higher", `{}`, `{"limits": {"memory": "90%"}}`, 1000, 750},
		{"size is lower", `{}`, `{"limits": {"memory": "1GiB"}}`, 4 << 30, 1 << 30},
		{"size is higher", `{}`, `{"limits": {"memory": "100GiB"}}`, 1000, 750},
		{"no limit", `{}`, `{"limits": {"memory": "0"}}`, 1000, 750},
		{"user has no limit", `{"limits": {"memory": "0"}}`, `{}`, 1000, 0},
		{"user has no limit, project has one", `{"limits": {"memory": "0"}}`, `{"limits": {"memory": "1GiB"}}`, 4 << 30, 1 << 30},
		{"machine not known", `{}`, `{}`, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := load(t, nil, map[string]string{userFile: test.user, projectFile: test.project})
			if m := got.Limits.Memory.Of(test.total); m != test.want {
				t.Errorf("memory %d, want %d", m, test.want)
			}
		})
	}
	got := load(t, nil, map[string]string{
		userFile:    `{"limits": {"processes": 100, "file_size": "0"}}`,
		projectFile: `{"limits": {"processes": 0, "file_size": "1MiB", "reading_memory": "3GiB", "reading_timeout": "5s"}}`,
	})
	want := load(t, nil, map[string]string{userFile: `{"limits": {"processes": 100, "file_size": "1MiB", "reading_timeout": "5s"}}`})
	if diff := cmp.Diff(want.Limits, got.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// TestLoad_ProjectOffers holds that what a project allows is set apart: code that takes the
// rules in force from the configuration does not get it (T1).
func TestLoad_ProjectOffers(t *testing.T) {
	got := load(t, nil, map[string]string{projectFile: `{"rules": {"allow": ["bash(make test)"], "deny": ["read(x)"]}}`})
	if len(got.Rules.Allow)+len(got.Project.Allow) > 0 || len(got.Project.Deny) != 1 {
		t.Errorf("in force: %v, %v, want the deny alone", got.Rules, got.Project)
	}
	want := []config.Rule{{Permission: "bash", Pattern: "make test", Source: projectFile + ":1:22"}}
	if diff := cmp.Diff(want, got.Offered); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	known := func(string) bool { return false }
	if err := got.CheckNames(known, known); err == nil || !strings.Contains(err.Error(), projectFile) {
		t.Errorf("names: %v, want an error about the file", err)
	}
}

// A project may lower what subagents spend; what it sets higher, or to none, does not
// count.
func TestLoad_ProjectSubagents(t *testing.T) {
	got := load(t, nil, map[string]string{
		userFile: `{"subagents": {"running": 4, "budget": {"tokens": 1000, "calls": 10}}}`,
		projectFile: `{"subagents": {"enabled": false, "depth": 2, "running": 6,
			"budget": {"tokens": 0, "cost": 2.5, "time": "2h", "calls": 20, "fan_out": 1}}}`,
	})
	want := config.Subagents{Depth: 2, Running: 4, Budget: config.Budget{
		Tokens: 1000, Cost: 2.5, Time: config.Duration{Duration: time.Hour}, Calls: 10, FanOut: 1,
	}}
	if diff := cmp.Diff(want, got.Subagents); diff != "" {
		t.Errorf("subagents (-want +got):\n%s", diff)
	}
}

func TestLoad_ProjectBashTimeout(t *testing.T) {
	for _, tc := range []struct{ name, user, project, want string }{
		{"over none", "0s", "5m", "5m"},
		{"shorter", "10m", "5m", "5m"},
		{"longer", "1m", "5m", "1m"},
		{"none over some", "1m", "0s", "1m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := load(t, nil, map[string]string{
				userFile:    `{"limits": {"bash_timeout": "` + tc.user + `"}}`,
				projectFile: `{"limits": {"bash_timeout": "` + tc.project + `"}}`,
			})
			if want, err := time.ParseDuration(tc.want); err != nil || cfg.Limits.BashTimeout.Duration != want {
				t.Errorf("bash timeout %s, want %s", cfg.Limits.BashTimeout, tc.want)
			}
		})
	}
}

// TestLoad_ProjectCannot walks all that a foreign repository could gain from.
func TestLoad_ProjectCannot(t *testing.T) {
	elsewhere := "is not for a project to set, which may only tighten; remove it here and set it in the user's file, " + userFile
	for _, tc := range []struct{ name, file, want string }{
		{"address", `{"model": {"base_url": "http://evil"}}`, ":1:2: model: " + elsewhere},
		{"key", `{"model": {"api_key": "x"}}`, "model: " + elsewhere},
		{"roots", `{"roots": {"write": ["/"]}}`, "roots: " + elsewhere},
		{"profile of rules", `{"rules": {"deny": [], "profile": "dev"}}`, ":1:24: rules.profile: " + elsewhere},
		{"escaped name", `{"\u006dode": "code"}`, "mode: " + elsewhere},
		{"mode", `{"mode": "code"}`, "mode: " + elsewhere},
		{"profile", `{"limits": {"profile": "amp"}}`, "limits.profile: " + elsewhere},
		{"editor", `{"editor": {"fs": true}}`, "editor: " + elsewhere},
		{"program", `{"search": {"ripgrep": "/work/shop/rg"}}`, "search: " + elsewhere},
		{"log", `{"log": {"file": "/etc/passwd"}}`, "log: " + elsewhere},
		{"proxy", `{"proxy": "http://evil"}`, "proxy: unknown field; known here: limits, mcp, rules, secrets, subagents, tools"},
		{"sandbox", `{"sandbox": {"level": "none"}}`, "sandbox: is not for a project to set"},
		{"toolbox", `{"toolbox": {"dirs": ["/work/shop/tools"]}}`, "toolbox: " + elsewhere},
		{"providers", `{"external": {"toolProviders": {"x": {"type": "stdio", "command": "./x"}}}}`, "external: " + elsewhere},
		{"mcp", `{"mcp": {"servers": {"x": {"env": {}}}}}`, "mcp.servers.x: expects a command"},
		{"environment", `{"env": {}}`, "env: unknown field"},
		{"models of agents", `{"agents": {"oracle": {"model": "dear"}}}`, "agents: " + elsewhere},
		{"prices", `{"model": {"prices": {}}}`, "model: " + elsewhere},
		{"depth", `{"subagents": {"depth": 0}}`, ":1:25: subagents.depth: must be between 1 and 10, found 0"},
		{"budget", `{"subagents": {"budget": {"cost": -1}}}`, "subagents.budget.cost: must not be negative"},
		{"case", `{"rules": {"Allow": ["*"]}}`, "rules.Allow: unknown field; known here: allow, ask, deny"},
		{"steps", `{"limits": {"max_steps": 0}}`, ":1:26: limits.max_steps: must be between"},
		{"time", `{"limits": {"tool_timeout": "0s"}}`, "limits.tool_timeout: must be longer than nothing"},
		{"rule", `{"rules": {"deny": ["bash("]}}`, "rules.deny[0]: expects tool(pattern)"},
		{"syntax", `{"rules": }`, ":1:11: invalid character '}' at start of value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := config.Load(sources(nil, map[string]string{projectFile: tc.file}), workspace)
			if err == nil {
				t.Fatalf("no error, and the config is %+v", cfg)
			}
			if text := err.Error(); !strings.HasPrefix(text, projectFile) || !strings.Contains(text, tc.want) {
				t.Errorf("error\n%s\nwant the file and\n%s", text, tc.want)
			}
		})
	}
}

func TestLoad_NoWorkspaceNoProject(t *testing.T) {
	if _, err := config.Load(sources(nil, map[string]string{projectFile: `broken`}), ""); err != nil {
		t.Errorf("a project's file was read without a workspace: %v", err)
	}
}
