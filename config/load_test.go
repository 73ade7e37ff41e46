package config_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

// abs makes a path absolute on the system of the test.
func abs(slashed string) string {
	if runtime.GOOS == "windows" {
		slashed = "C:" + slashed
	}
	return filepath.FromSlash(slashed)
}

var (
	home        = abs("/home/ann")
	workspace   = abs("/work/shop")
	userFile    = filepath.Join(home, ".config", "acp-agent", "config.jsonc")
	projectFile = config.ProjectFile(workspace)
)

// sources are a world with the given variables and files.
func sources(env, files map[string]string) config.Sources {
	return config.Sources{
		Getenv: func(name string) string { return env[name] },
		ReadFile: func(path string) ([]byte, error) {
			text, ok := files[path]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return []byte(text), nil
		},
		ConfigDir: filepath.Join(home, ".config"),
		HomeDir:   home,
	}
}

func load(t *testing.T, env, files map[string]string) *config.Config {
	t.Helper()
	cfg, err := config.Load(sources(env, files), workspace)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestLoad_NothingSet(t *testing.T) {
	got := load(t, nil, nil)
	want := config.Default()
	want.Roots.Read = sources(nil, nil).PackageCaches()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	zero, err := config.Load(config.Sources{}, workspace)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), zero); diff != "" {
		t.Errorf("config of no sources (-want +got):\n%s", diff)
	}
}

func TestLoad_EveryField(t *testing.T) {
	got := load(t, nil, map[string]string{userFile: `{
		// a comment, and commas at the ends
		"model": {
			"name": "m", "base_url": "http://localhost:11434/v1/", "api_key": "k",
			"api_key_env": "OTHER", "headers": {"X-Team": "a"}, "window": 1000,
			"windows": {"big.model": 5000}, "images": true, "thought_level": "low",
			"max_output": 100, "temperature": 0.5, "prices": {"m": {"input": 1.5, "output": 6, "cache_read": 0.1, "cache_write": 2}}, "idle_timeout": "1s", "start_timeout": "2s", "content_timeout": "3s", "keep_alive_timeout": "4s", "notice_after": "5s", "extra_body": {"a": {"b": [1, /* c */ 9007199254740993,]}},
		},
		"editor": {"fs": false},
		"limits": {"profile": "amp", "result_size": "64KiB", "max_steps": 7, "bash_timeout": "5m", "tool_timeout": "90s",
			"concurrent": 3, "sidecar_bytes": 0, "jobs": 4, "job_time": "2h", "job_output": "1MiB", "search_calls": 5, "search_timeout": "3s", "memory": "50%", "reading_memory": "512MiB", "reading_timeout": "30s", "processes": 99, "file_size": "1GiB"},
		"roots": {"read": ["~/src"], "write": ["` + filepath.ToSlash(abs("/srv/out")) + `/"]},
		"rules": {"allow": ["bash(go test *)"], "ask": ["read(a(b)c)"], "deny": ["web_fetch", {"permission": "bash", "pattern": "rm *"}]},
		"tools": {
			"disable": ["task"], "always": ["apply_patch"], "search": {"enabled": false, "threshold": 5, "listed_size": "8KiB", "max_matches": 3},
			"mount": [{"module": "count", "source": "./count", "config": {"max_size": 1}}],
		},
		"search": {"ripgrep": "~/bin/rg", "providers": [
			{"type": "searxng", "url": "http://localhost:8888", "api_key": "s", "api_key_env": "NONE", "file": "~/answers.json"}]},
		"web": {"hosts": ["go.dev"], "private": ["localhost:8080"]}, "sandbox": {"level": "landlock", "network": true}, "network": {"ask_timeout": "30s"},
		"skills": {"paths": ["~/skills"], "urls": ["https://skills.example/SKILL.md"]},
		"checks": [{"name": "test", "cmd": "go test ./..."}],
		"format": {".go": ["gofmt"]}, "lsp": {".go": ["gopls"]},
		"subagents": {"enabled": false, "depth": 2, "running": 3, "budget": {"tokens": 1, "cost": 0.5, "time": "1m", "calls": 4, "fan_out": 6}},
		"agents": {"oracle": {"model": "deep", "temperature": 0.5, "max_output": 7, "cycles": 8}},
		"watchdog": {"policies": ["bash"], "commands": [{"argv": ["~/guard", "-x"], "timeout": "1s"}, {"argv": ["guard"]}]},
		"audit": {"enabled": false, "max_bytes": 1, "keep_days": 2},
		"sessions": {"store": false, "keep_days": 3, "max_bytes": 4},
		"mode": "code",
		"log": {"level": "debug", "file": "~/agent.log", "trace": true},
	}`})
	images, temperature := true, 0.5
	want := &config.Config{
		Model: config.Model{
			Name: "m", BaseURL: "http://localhost:11434/v1", APIKey: config.NewSecret("k"),
			APIKeyEnv: "OTHER", Origin: config.Origin{Server: "model.base_url", Key: "model.api_key"}, Headers: map[string]config.Secret{"X-Team": config.NewSecret("a")},
			Window: 1000, Windows: map[string]int{"big.model": 5000}, Images: &images,
			ThoughtLevel: "low", MaxOutput: 100, Temperature: &temperature,
			Prices:      map[string]config.Price{"m": {Input: 1.5, Output: 6, CacheRead: 0.1, CacheWrite: 2}},
			IdleTimeout: config.Duration{Duration: time.Second}, StartTimeout: config.Duration{Duration: 2 * time.Second},
			ContentTimeout: config.Duration{Duration: 3 * time.Second}, KeepAliveTimeout: config.Duration{Duration: 4 * time.Second},
			NoticeAfter: config.Duration{Duration: 5 * time.Second},
			ExtraBody:   map[string]json.RawMessage{"a": json.RawMessage(`{"b":[1,9007199254740993]}`)},
		},
		Watchdog: config.Watchdog{Policies: []string{"bash"}, Commands: []config.WatchdogCommand{
			{Argv: []string{filepath.Join(home, "guard"), "-x"}, Timeout: config.Duration{Duration: time.Second}},
			{Argv: []string{"guard"}, Timeout: config.Duration{Duration: 5 * time.Second}},
		}},
		Audit:    config.Audit{MaxBytes: 1, KeepDays: 2},
		Sessions: config.Sessions{KeepDays: 3, MaxBytes: 4},
		Subagents: config.Subagents{Depth: 2, Running: 3, Budget: config.Budget{
			Tokens: 1, Cost: 0.5, Time: config.Duration{Duration: time.Minute}, Calls: 4, FanOut: 6,
		}},
		Agents: map[string]config.Agent{"oracle": {Model: "deep", Temperature: &temperature, MaxOutput: 7, Cycles: 8}},
		Limits: config.Limits{
			Profile: "amp", ResultSize: config.Size{Bytes: 64 << 10}, MaxSteps: 7, BashTimeout: config.Duration{Duration: 5 * time.Minute},
			ToolTimeout: config.Duration{Duration: 90 * time.Second}, Concurrent: 3,
			Jobs: 4, JobTime: config.Duration{Duration: 2 * time.Hour}, JobOutput: config.Size{Bytes: 1 << 20},
			SearchCalls: 5, SearchTimeout: config.Duration{Duration: 3 * time.Second},
			Memory: config.Memory{Percent: 50}, ReadingMemory: config.Size{Bytes: 512 << 20},
			ReadingTimeout: config.Duration{Duration: 30 * time.Second}, Processes: 99, FileSize: config.Size{Bytes: 1 << 30},
		},
		Roots: config.Roots{
			Read:  append([]string{filepath.Join(home, "src")}, sources(nil, nil).PackageCaches()...),
			Write: []string{abs("/srv/out")},
		},
		Rules: config.Rules{
			Allow: []config.Rule{{Permission: "bash", Pattern: "go test *", Source: userFile + ":13:23"}},
			Ask:   []config.Rule{{Permission: "read", Pattern: "a(b)c", Source: userFile + ":13:51"}},
			Deny: []config.Rule{
				{Permission: "web_fetch", Source: userFile + ":13:76"},
				{Permission: "bash", Pattern: "rm *", Source: userFile + ":13:89"},
			},
		},
		Tools: config.Tools{
			Disable: []string{"task"}, Always: []string{"apply_patch"}, Search: config.ToolSearch{Threshold: 5, ListedSize: config.Size{Bytes: 8 << 10}, MaxMatches: 3},
			Mount: []config.Mount{{Module: "count", Source: "./count", Config: json.RawMessage(`{"max_size":1}`), At: userFile + ":16:14"}},
		},
		Search: config.Search{
			Ripgrep: filepath.Join(home, "bin", "rg"),
			Providers: []config.SearchProvider{{
				Type: "searxng", URL: "http://localhost:8888", APIKey: config.NewSecret("s"), APIKeyEnv: "NONE",
				File: filepath.Join(home, "answers.json"),
			}},
		},
		Web:     config.Web{Hosts: []string{"go.dev"}, Private: []string{"localhost:8080"}},
		Sandbox: config.Sandbox{Level: "landlock", Network: true}, Network: config.Network{AskTimeout: config.Duration{Duration: 30 * time.Second}},
		Skills: config.Skills{Paths: []string{filepath.Join(home, "skills")}, URLs: []string{"https://skills.example/SKILL.md"}},
		Checks: []config.Check{{Name: "test", Cmd: "go test ./..."}},
		Format: map[string][]string{".go": {"gofmt"}},
		LSP:    map[string][]string{".go": {"gopls"}},
		Mode:   "code",
		Log:    config.Log{Level: "debug", File: filepath.Join(home, "agent.log"), Trace: true},
		Files:  []string{userFile},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestLoad_Environment(t *testing.T) {
	file := `{"model": {"name": "file", "base_url": "http://file/v1", "api_key": "file"}, "log": {"level": "error"}}`
	for _, tc := range []struct {
		name, file                string
		env                       map[string]string
		model, url, key, logLevel string
	}{
		{name: "file alone", file: file, model: "file", url: "http://file/v1", key: "file", logLevel: "error"},
		{
			name: "environment wins", file: file,
			env: map[string]string{
				"OPENAI_MODEL": "env", "OPENAI_BASE_URL": "https://env/v1/", "OPENAI_API_KEY": " env\n", "ACP_AGENT_LOG": "WARN",
			},
			model: "env", url: "https://env/v1", key: "env", logLevel: "warn",
		},
		{
			name:  "another variable for the key",
			file:  `{"model": {"api_key_env": "TEAM_KEY", "api_key": "file"}}`,
			env:   map[string]string{"OPENAI_API_KEY": "not this one", "TEAM_KEY": "team"},
			url:   config.DefaultBaseURL,
			key:   "team",
			model: "", logLevel: "info",
		},
		{
			name: "no variable for the key",
			file: `{"model": {"api_key_env": ""}}`,
			env:  map[string]string{"OPENAI_API_KEY": "not this one"},
			url:  config.DefaultBaseURL, logLevel: "info",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := load(t, tc.env, map[string]string{userFile: tc.file})
			got := []string{cfg.Model.Name, cfg.Model.BaseURL, cfg.Model.APIKey.Reveal(), cfg.Log.Level}
			if diff := cmp.Diff([]string{tc.model, tc.url, tc.key, tc.logLevel}, got); diff != "" {
				t.Errorf("model, url, key, level (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoad_NamedFile(t *testing.T) {
	env := map[string]string{"ACP_AGENT_CONFIG": "/etc/mine.jsonc"}
	cfg := load(t, env, map[string]string{"/etc/mine.jsonc": `{"mode": "code"}`, userFile: `{"mode": "broken"}`})
	if cfg.Mode != config.ModeCode {
		t.Errorf("mode %q, want the one of the named file", cfg.Mode)
	}
	_, err := config.Load(sources(env, nil), workspace)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ACP_AGENT_CONFIG names it") {
		t.Errorf("error %v, want that the named file does not exist", err)
	}
}

func TestLoad_Unreadable(t *testing.T) {
	src := sources(nil, nil)
	src.ReadFile = func(path string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	_, err := config.Load(src, "")
	want := userFile + ": cannot be read: permission denied; make it readable or remove it"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCheckNames(t *testing.T) {
	cfg := load(t, nil, map[string]string{
		userFile:    `{"rules": {"deny": ["bash(rm *)"]}, "tools": {"disable": ["task"]}}`,
		projectFile: `{"rules": {"deny": ["bahs(rm *)"]}}`,
	})
	known := func(name string) bool { return name == "bash" }
	all := func(string) bool { return true }
	for _, tc := range []struct {
		name             string
		permission, tool func(string) bool
		want             string
	}{
		{"all known", all, all, ""},
		{"rule", known, all, projectFile + `:1:21: rules.deny[0]: unknown permission "bahs"; use a tool id, a capability, an mcp: form or *`},
		{"tool", all, known, `config: tools.disable: unknown tool "task"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if err := cfg.CheckNames(tc.permission, tc.tool); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
