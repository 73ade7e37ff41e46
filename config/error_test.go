package config_test

import (
	"errors"
	"strings"
	"testing"

	"acp-agent/config"
)

func TestLoad_Mistakes(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"syntax", "{\n  \"mode\": \"ask\"\n  \"log\": {}\n}", `:3:3: invalid character '"' after object value (expecting ',' or '}')`},
		{"cut short", `{"mode": "ask"`, ":1:15: parsing object after value: unexpected EOF"},
		{"no object", `[]`, ":1:1: expects an object, found a list"},
		{"unknown section", "{\n\t\"modle\": {}}", ":2:2: modle: unknown field; known here: agent, agents, audit, checks, editor, environment, external, format, limits, log, lsp, mcp, mode, model, network, providers, roots, rules, sandbox, search, secrets, sessions, skills, subagents, toolbox, tools, watchdog, web"},
		{"environment", `{"environment": ["PYTHONPATH", "DATABASE_URL=x"]}`, `:1:32: environment[1]: expects the name of a variable, found "DATABASE_URL=x"; its value stays where it is set`},
		{"environment of the loader", `{"environment": ["LD_PRELOAD"]}`, `:1:18: environment[0]: LD_PRELOAD cannot reach commands: it changes what programs load or how a command is read, so that what runs would not be what was judged`},
		{"sandbox", `{"sandbox": {"level": "chroot"}}`, `:1:23: sandbox.level: must be one of auto, bubblewrap, namespaces, landlock, sandbox-exec, none, found "chroot"`},
		{"unknown field", `{"log": {"colour": 1}}`, ":1:10: log.colour: unknown field; known here: file, level"},
		{"case counts", `{"Mode": "ask"}`, ":1:2: Mode: unknown field"},
		{"twice", `{"mode": "ask", "mode": "code"}`, ":1:17: mode: is set twice"},
		{"null", `{"mode": null}`, ":1:10: mode: null is no value here"},
		{"text for number", `{"limits": {"max_steps": "many"}}`, ":1:26: limits.max_steps: expects a whole number, found a text"},
		{"fraction", `{"limits": {"max_steps": 1.5}}`, "limits.max_steps: expects a whole number within range, found 1.5"},
		{"number for text", `{"model": {"api_key": 12345}}`, ":1:23: model.api_key: expects a text in quotes, found a number"},
		{"object for text", `{"model": {"api_key": {}}}`, "model.api_key: expects a text in quotes, found an object"},
		{"text for list", `{"roots": {"read": "/a"}}`, "roots.read: expects a list, found a text"},
		{"list for object", `{"model": []}`, "model: expects an object, found a list"},
		{"steps", `{"limits": {"max_steps": 0}}`, "limits.max_steps: must be between 1 and 100000, found 0"},
		{"concurrent", `{"limits": {"concurrent": 65}}`, "limits.concurrent: must be between 1 and 64, found 65"},
		{"profile", `{"limits": {"profile": "big"}}`, `limits.profile: must be one of window, canonical, amp, found "big"`},
		{"results of nothing", `{"limits": {"result_size": "0"}}`, "limits.result_size: must be between 1KiB and 1GiB, found 0"},
		{"time without unit", `{"limits": {"bash_timeout": "120"}}`, `limits.bash_timeout: expects a time with a unit, such as "90s" or "5m", found "120"`},
		{"time below zero", `{"limits": {"bash_timeout": "-1s"}}`, "limits.bash_timeout: expects a time that is not negative"},
		{"no tool time", `{"limits": {"tool_timeout": "0s"}}`, "limits.tool_timeout: must be longer than nothing"},
		{"size without unit", `{"limits": {"file_size": "120"}}`, `limits.file_size: expects a size with a unit, such as "512MiB" or "2GiB", or "0", found "120"`},
		{"size too large", `{"limits": {"file_size": "99999999TiB"}}`, "limits.file_size: expects a size with a unit"},
		{"share above all", `{"limits": {"memory": "101%"}}`, "limits.memory: expects a share from 1% to 100%"},
		{"share of a file", `{"limits": {"file_size": "10%"}}`, "limits.file_size: expects a size with a unit"},
		{"too little memory", `{"limits": {"memory": "1MiB"}}`, "limits.memory: must be at least 16MiB"},
		{"too little for reading", `{"limits": {"reading_memory": "1MiB"}}`, "limits.reading_memory: must be at least 16MiB"},
		{"too few processes", `{"limits": {"processes": 3}}`, "limits.processes: must be 0 or at least 16, found 3"},
		{"sidecars", `{"limits": {"sidecar_bytes": -1}}`, "limits.sidecar_bytes: must not be negative"},
		{"too many jobs", `{"limits": {"jobs": 1001}}`, "limits.jobs: must be between 0 and 1000, found 1001"},
		{"no time for jobs", `{"limits": {"job_time": "0s"}}`, "limits.job_time: must be longer than nothing"},
		{"mode", `{"mode": "yolo"}`, `mode: must be one of ask, code, plan, auto, found "yolo"`},
		{"level", `{"log": {"level": "loud"}}`, `log.level: must be one of debug, info, warn, error, found "loud"`},
		{"address", `{"model": {"base_url": "localhost:11434"}}`, "model.base_url: expects an http or https address"},
		{"address with query", `{"model": {"base_url": "http://a/v1?x=1"}}`, "model.base_url: must not hold a query"},
		{"window", `{"model": {"window": -1}}`, "model.window: must not be negative"},
		{"windows", `{"model": {"windows": {"a": 0}}}`, "model.windows.a: must be 1 or more"},
		{"temperature", `{"model": {"temperature": 3}}`, "model.temperature: must be between 0 and 2, found 3"},
		{"header name", `{"model": {"headers": {"a b": "x"}}}`, "model.headers.a b: is no valid name"},
		{"relative root", `{"roots": {"write": ["src"]}}`, `roots.write[0]: expects an absolute path or one that starts with ~/, found "src"`},
		{"somebody's home", `{"roots": {"read": ["~bob"]}}`, "roots.read[0]: expects an absolute path"},
		{"open rule", `{"rules": {"deny": ["bash(rm"]}}`, `:1:21: rules.deny[0]: expects tool(pattern), found "bash(rm" without a closing parenthesis`},
		{"empty pattern", `{"rules": {"deny": ["bash()"]}}`, `rules.deny[0]: expects tool(pattern), found "bash()" with an empty pattern`},
		{"empty rule", `{"rules": {"deny": [""]}}`, "rules.deny[0]: expects a permission"},
		{"rule without permission", `{"rules": {"deny": [{"pattern": "x"}]}}`, ":1:21: rules.deny[0]: expects a permission"},
		{"blank in rule", `{"rules": {"deny": ["bash rm"]}}`, `rules.deny[0]: permission "bash rm" holds a blank`},
		{"rule of wrong kind", `{"rules": {"deny": [1]}}`, "rules.deny[0]: expects a text or an object, found a number"},
		{"relative toolbox", `{"toolbox": {"dirs": ["tools"]}}`, `toolbox.dirs[0]: expects an absolute path or one that starts with ~/, found "tools"`},
		{"variable without a name", `{"toolbox": {"env": {"A=B": "x"}}}`, "toolbox.env.A=B: is no variable that a program can have"},
		{"header of a provider", `{"external": {"toolProviders": {"x": {"headers": {"a b": "x"}}}}}`, "external.toolProviders.x.headers.a b: is no valid name"},
		{"field of a provider", `{"external": {"toolProviders": {"x": {"cmd": "x"}}}}`, "external.toolProviders.x.cmd: unknown field"},
		{"config of a module", `{"tools": {"mount": [{"module": "x", "config": [1]}]}}`, ":1:48: tools.mount[0].config: expects an object"},
		{"config of a module, twice", `{"tools": {"mount": [{"module": "x", "config": {"a": 1, "a": 2}}]}}`, ":1:57: tools.mount[0].config.a: is set twice; keep one"},
		{"empty tool", `{"tools": {"disable": [""]}}`, "tools.disable[0]: expects the id of a tool"},
		{"depth of subagents", `{"subagents": {"depth": 11}}`, ":1:25: subagents.depth: must be between 1 and 10, found 11"},
		{"running subagents", `{"subagents": {"running": 0}}`, "subagents.running: must be between 1 and 64, found 0"},
		{"budget", `{"subagents": {"budget": {"calls": -1}}}`, "subagents.budget.calls: must not be negative, found -1"},
		{"time of a budget", `{"subagents": {"budget": {"time": "-1s"}}}`, "subagents.budget.time: expects a time that is not negative"},
		{"budget of another kind", `{"subagents": {"budget": {"money": 1}}}`, "subagents.budget.money: unknown field; known here: calls, cost, fan_out, time, tokens"},
		{"an MCP server of no type", `{"mcp": {"servers": {"x": {"type": "stdio", "command": ["a"]}}}}`, "mcp.servers.x.type: must be \"local\" or \"remote\""},
		{"an MCP server of two kinds", `{"mcp": {"servers": {"x": {"url": "http://a", "command": ["a"]}}}}`, "mcp.servers.x: has a command and a url; keep one"},
		{"an MCP server without anything", `{"mcp": {"servers": {"x": {}}}}`, "mcp.servers.x: expects a command"},
		{"a remote MCP server without an address", `{"mcp": {"servers": {"x": {"type": "remote"}}}}`, "mcp.servers.x: expects a url"},
		{"an address of an MCP server", `{"mcp": {"servers": {"x": {"url": "file:///x"}}}}`, "mcp.servers.x.url: must be an http or https address"},
		{"the whole network of an MCP server", `{"mcp": {"servers": {"x": {"command": ["a"], "network": true}}}}`, ":1:57: mcp.servers.x.network: expects a text in quotes or a list, found true or false"},
		{"another network of an MCP server", `{"mcp": {"servers": {"x": {"command": ["a"], "network": "all"}}}}`, `:1:57: mcp.servers.x.network: must be one of open, ask, found "all"`},
		{"another network of MCP servers", `{"mcp": {"network": "none"}}`, `mcp.network: must be one of open, ask, found "none"`},
		{"questions of an MCP server outside of the sandbox", `{"mcp": {"servers": {"x": {"command": ["a"], "sandbox": false, "network": "ask"}}}}`, "mcp.servers.x.network: holds in the sandbox alone"},
		{"a host of an MCP server", "{\"mcp\": {\"servers\": {\"x\": {\"command\": [\"a\"],\n \"network\": [\"a.example\", \"https://b.example\"]}}}}", ":2:27: mcp.servers.x.network[1]: expects a host, such as example.com, *.example.com or 127.0.0.1:8080, found \"https://b.example\""},
		{"hosts of an MCP server at an address", `{"mcp": {"servers": {"x": {"url": "http://a", "network": []}}}}`, "mcp.servers.x.network: is for a server with a command"},
		{"hosts of an MCP server outside of the sandbox", `{"mcp": {"servers": {"x": {"command": ["a"], "sandbox": false, "network": []}}}}`, "mcp.servers.x.network: holds in the sandbox alone"},
		{"time of an MCP server", `{"mcp": {"servers": {"x": {"url": "http://a", "timeout_ms": -1}}}}`, "mcp.servers.x.timeout_ms: must not be negative"},
		{"an agent without a name", `{"agents": {"": {}}}`, "agents.: expects the name of an agent"},
		{"field of an agent", `{"agents": {"oracle": {"modle": "x"}}}`, ":1:24: agents.oracle.modle: unknown field; known here: cycles, max_output, model, temperature"},
		{"temperature of an agent", `{"agents": {"oracle": {"temperature": 3}}}`, "agents.oracle.temperature: must be between 0 and 2, found 3"},
		{"output of an agent", `{"agents": {"oracle": {"max_output": -1}}}`, "agents.oracle.max_output: must not be negative"},
		{"cycles of an agent", `{"agents": {"oracle": {"cycles": -1}}}`, "agents.oracle.cycles: must be between 0 and 100000"},
		{"price", `{"model": {"prices": {"m": {"cache_read": -1}}}}`, "model.prices.m.cache_read: must not be negative"},
		{"audit", `{"audit": {"max_bytes": -1}}`, "audit.max_bytes: must not be negative, found -1"},
		{"sessions' days", `{"sessions": {"keep_days": -1}}`, "sessions.keep_days: must not be negative, found -1"},
		{"sessions' size", `{"sessions": {"max_bytes": -1}}`, "sessions.max_bytes: must not be negative, found -1"},
		{"audit's days", `{"audit": {"keep_days": -1}}`, "audit.keep_days: must not be negative, found -1"},
		{"hosts of a provider at an address", `{"external": {"toolProviders": {"p": {"type": "http", "url": "http://a", "network": []}}}}`, "external.toolProviders.p.network: is for a provider with a command"},
		{"another network of a provider", `{"external": {"toolProviders": {"p": {"type": "stdio", "command": "a", "network": "ask"}}}}`, `external.toolProviders.p.network: expects a list of hosts, true or "open", found "ask"`},
		{"a host of a provider", `{"external": {"toolProviders": {"p": {"type": "stdio", "command": "a", "network": ["a", "b:c"]}}}}`, `external.toolProviders.p.network[1]: expects a host, such as example.com, *.example.com or 127.0.0.1:8080, found "b:c"`},
		{"unknown watchdog", `{"watchdog": {"policies": ["bosh"]}}`, `:1:28: watchdog.policies[0]: must be one of bash, no-network, read-only, found "bosh"`},
		{"a watchdog twice", `{"watchdog": {"policies": ["bash", "bash"]}}`, `watchdog.policies[1]: "bash" is named twice`},
		{"a watchdog that is nothing", `{"watchdog": {"commands": [{"timeout": "1s"}]}}`, "watchdog.commands[0]: expects"},
		{"a watchdog of the directory", `{"watchdog": {"commands": [{"argv": ["./guard"]}]}}`, `watchdog.commands[0].argv: expects a program as an absolute path`},
		{"a watchdog with patience", `{"watchdog": {"commands": [{"argv": ["guard"], "timeout": "1h"}]}}`, "watchdog.commands[0].timeout: must be at most 10m0s"},
		{"too large", strings.Repeat(" ", 256<<10) + "{}", ": is larger than 262144 bytes"},
		{"deep", strings.Repeat("[", 200<<10), ": parsing value: unexpected EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := config.Load(sources(nil, map[string]string{userFile: tc.file}), workspace)
			var mistake *config.Error
			if !errors.As(err, &mistake) {
				t.Fatalf("error %v, want a *config.Error", err)
			}
			if text := err.Error(); !strings.HasPrefix(text, userFile) || !strings.Contains(text, tc.want) {
				t.Errorf("error\n%s\nwant the file and\n%s", text, tc.want)
			}
		})
	}
}

func TestLoad_MistakeInEnvironment(t *testing.T) {
	for _, tc := range []struct{ name, variable, value, want string }{
		{"address", "OPENAI_BASE_URL", "api.example.com", `OPENAI_BASE_URL: expects an http or https address such as http://localhost:11434/v1, found "api.example.com"`},
		{"level", "ACP_AGENT_LOG", "all", `ACP_AGENT_LOG: must be one of debug, info, warn, error, found "all"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := config.Load(sources(map[string]string{tc.variable: tc.value}, nil), "")
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// TestLoad_MistakesKeepSecrets breaks files around a key and looks for it in the error.
func TestLoad_MistakesKeepSecrets(t *testing.T) {
	const canary = "sk-canary-1234567890"
	for _, tc := range []struct{ name, file string }{
		{"bad escape", `{"model": {"api_key": "` + canary + `\q"}}`},
		{"no quotes", `{"model": {"api_key": ` + canary + `}}`},
		{"line break", `{"model": {"api_key": "` + canary + `\n"}}`},
		{"header", `{"model": {"headers": {"X": "` + canary + `\r\n"}}}`},
		{"name of the variable", `{"model": {"api_key_env": "` + canary + ` "}}`},
		{"password in address", `{"model": {"base_url": "http://u:` + canary + `@host/v1"}}`},
		{"broken address", `{"model": {"base_url": "http://u:` + canary + `@host:x/v1"}}`},
		{"in a list", `{"model": {"api_key": ["` + canary + `"]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := config.Load(sources(nil, map[string]string{userFile: tc.file}), "")
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}
