package subagent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/subagent"
)

const whole = `---
name: fix
description: Mends things.
mode: all
model: small
tools: [read, edit, bash]
always: [apply_patch]
permissions:
  level: inherit
  allow: ["bash(go test *)", {permission: edit, pattern: "docs/**"}]
  ask:
    - edit
  deny: ["read(secrets/**)"]
limits:
  cycles: 5
  temperature: 0.5
  max_tokens: 100
  tokens: 200
  calls: 3
  time: 90s
  cost: 1.5
  fan_out: 2
inspectable: true
caller: agent
hidden: true
requires:
  fs:
    read: ['{workspace}/docs/**']
  net:
    hosts: [go.dev]
---
You mend things.
`

// data removes the line numbers.
var data = cmpopts.IgnoreFields(subagent.Manifest{}, "Lines", "Problems")

func TestParseManifest(t *testing.T) {
	got, err := subagent.ParseManifest("fix.md", []byte(whole))
	temperature := 0.5
	want := subagent.Manifest{
		Name: "fix", Description: "Mends things.", Mode: subagent.All, Model: "small", Prompt: "You mend things.\n",
		Tools: []string{"read", "edit", "bash"}, Always: []string{"apply_patch"}, Level: subagent.Inherit,
		Rules: []permissions.Rule{
			{Permission: "bash", Pattern: "go test *", Action: capability.Allow, Source: "fix.md:10"},
			{Permission: "edit", Pattern: "docs/**", Action: capability.Allow, Source: "fix.md:10"},
			{Permission: "edit", Action: capability.Ask, Source: "fix.md:12"},
			{Permission: "read", Pattern: "secrets/**", Action: capability.Deny, Source: "fix.md:13"},
		},
		Limits: subagent.Limits{
			Cycles: 5, Temperature: &temperature, MaxTokens: 100, Tokens: 200, Calls: 3, Time: 90 * time.Second, Cost: 1.5, FanOut: 2,
		},
		Inspectable: true, CalledByAgent: true, Hidden: true, File: "fix.md",
		Requires: capability.RequirementSet{
			FS: capability.FS{Read: []string{"{workspace}/docs/**"}}, Net: capability.Net{Hosts: []string{"go.dev"}},
		},
	}
	if diff := cmp.Diff(want, got, data); err != nil || diff != "" || len(got.Problems) > 0 {
		t.Errorf("error %v, problems %v, manifest (-want +got):\n%s", err, got.Problems, diff)
	}
	if line := got.Lines["requires.net.hosts[0]"]; line != 30 {
		t.Errorf("the host stands in line %d", line)
	}
}

// Default values, and different notations of one manifest.
func TestParseManifest_Forms(t *testing.T) {
	parse := func(t *testing.T, head string) subagent.Manifest {
		t.Helper()
		m, err := subagent.ParseManifest("n.md", []byte("\ufeff---\r\nname: n\r\ndescription: d\r\n"+head+"---  \r\np\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := parse(t, "")
	if m.Mode != subagent.Subagent || m.Level != subagent.Restricted || m.Tools != nil || m.Prompt != "p\n" {
		t.Errorf("nothing said: %+v", m)
	}
	if m = parse(t, "mode: primary\n"); m.Level != subagent.Inherit {
		t.Errorf("a primary agent has the level %s", m.Level)
	}
	if m = parse(t, "permissions: inherit\n"); m.Level != subagent.Inherit {
		t.Errorf("the level alone: %s", m.Level)
	}
	for head, want := range map[string][]string{
		"tools: []\n": {}, "tools:\n": {}, "tools: Read, Bash(git log, git diff:*), MultiEdit, Edit\n": {"read", "bash", "edit"},
		"tools: [WebFetch, WebSearch, TodoWrite, TodoRead, LS, Task, mcp__git__log, NotebookEdit]\n": {
			"web_fetch", "web_search", "todo", "read", "task", "mcp__git__log", "NotebookEdit",
		},
	} {
		if m = parse(t, head); m.Tools == nil || !slices.Equal(m.Tools, want) {
			t.Errorf("%q gives %q, want %q", head, m.Tools, want)
		}
	}
	m = parse(t, "tools: {write: false, bash: true, Edit: false}\n")
	if len(m.Rules) != 2 || m.Rules[1].Permission != "edit" || m.Rules[1].Action != capability.Deny || m.Tools != nil {
		t.Errorf("tools that are switched off: %+v", m)
	}
	m = parse(t, "disallowedTools: Write, Bash(rm:*)\npermissionMode: plan\nmaxTurns: 7\ntemperature: 0\n")
	want := []permissions.Rule{
		{Permission: "write", Action: capability.Deny, Source: "n.md:4"},
		{Permission: "bash", Pattern: "rm*", Action: capability.Deny, Source: "n.md:4"},
		{Permission: "fs.write", Action: capability.Deny, Source: "n.md:5"},
	}
	if diff := cmp.Diff(want, m.Rules); diff != "" || m.Limits.Cycles != 7 || *m.Limits.Temperature != 0 {
		t.Errorf("%+v, rules (-want +got):\n%s", m.Limits, diff)
	}
	text := "---\nname: n\ndescription: Use when: asked. <example>Context: a # b</example>\n---\np\u202eq\n"
	m, err := subagent.ParseManifest("n.md", []byte(text))
	if err != nil || m.Description != "Use when: asked. <example>Context: a # b</example>" || strings.Contains(m.Prompt, "\u202e") {
		t.Errorf("%v: %q, %q", err, m.Description, m.Prompt)
	}
}

// Each setting without effect is reported with its line; other settings are not.
func TestParseManifest_Problems(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"a field of others", "color: red\n", "n.md:4: color: this field of other agents has no effect here"},
		{"a model of others", "model: opus\n", "n.md:4: model: opus is not a model here; the agent uses the model of its parent"},
		{"the parent's model", "model: inherit\n", ""},
		{"a pattern after a tool", "tools:\n  - Read\n  - Bash(git:*)\n", `n.md:6: tools[1]: the pattern of "Bash(git:*)" has no effect`},
		{"all tools", "tools: ['*']\n", "n.md:4: tools[0]: a * has no effect"},
		{"tools without a value", "tools:\n", "n.md:4: tools: has no value; the agent has no tools"},
		{"a mode that would grant", "permissionMode: bypassPermissions\n", "n.md:4: permissionMode: bypassPermissions has no effect"},
		{"the usual mode", "permissionMode: default\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := subagent.ParseManifest("n.md", []byte("---\nname: n\ndescription: d\n"+tt.head+"---\np\n"))
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, p := range m.Problems {
				got += p.String()
				if !p.Warning {
					t.Errorf("%s keeps the agent out", p)
				}
			}
			if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") || len(m.Problems) > 1 {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
			if m.Model != "" || len(m.Rules) > 0 {
				t.Errorf("it has an effect: %+v", m)
			}
		})
	}
}

func TestParseManifest_Errors(t *testing.T) {
	const start = "---\nname: n\ndescription: d\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no front matter", "You mend things.", "x.md:1: it does not begin with front matter"},
		{"front matter without an end", "---\nname: fix\n", "x.md:1: its front matter is not closed"},
		{"no name", "---\ndescription: d\n---\np\n", "x.md:1: the agent has no name"},
		{"a name that is none", "---\ndescription: d\nname: a/b\n---\np\n", `x.md:3: name: "a/b" is not a valid agent name`},
		{"the main agent's name", "---\nname: main\ndescription: d\n---\np\n", "x.md:2: name: main is the agent that the user talks to"},
		{"no description", "---\nname: n\n---\np\n", "x.md:1: the agent has no description"},
		{"an empty description", "---\nname: n\ndescription:\n---\np\n", "x.md:3: the agent has no description"},
		{"no prompt", start + "---\n\n", "x.md:1: the agent has no prompt"},
		{"no YAML", start + "tools: [n\n---\np\n", "x.md:4: its front matter is not valid YAML: "},
		{"a slip of the indentation", start + "limits:\n    cycles: 1\n  calls: 1\nmode: all\n---\np\n", "x.md:6: its front matter is not valid YAML: "},
		{"a list in place of fields", "---\n- a\n---\np\n", "x.md:2: its front matter is not a list of fields"},
		{"a field twice", start + "name: n\n---\np\n", "x.md:4: name: is set twice; keep one"},
		{"an alias", start + "tools: &a [read]\nalways: *a\n---\np\n", "x.md:4: tools: an anchor or alias (&name, *name) is not supported here"},
		{"a merge", start + "limits:\n  <<: {cycles: 1}\n---\np\n", "x.md:5: a field needs a plain name"},
		{"a mode that is none", start + "mode: secondary\n---\np\n", `x.md:4: mode: must be primary, subagent or all, found "secondary"`},
		{"a model that is none", start + "model: \"a\\nb\"\n---\np\n", "x.md:4: model: "},
		{"a level that is none", start + "permissions: all\n---\np\n", `x.md:4: permissions: must be restricted or inherit, found "all"`},
		{"a level that is none, in fields", start + "permissions:\n  level: all\n---\np\n", `x.md:5: permissions.level: must be`},
		{"an unknown field", start + "permision: restricted\n---\np\n", `x.md:4: permision: unknown field; known here: name, description`},
		{"an unknown permission", start + "permissions:\n  grant: [bash]\n---\np\n", `x.md:5: permissions.grant: unknown field; known here: level, allow, ask, deny`},
		{"a rule without an end", start + "permissions:\n  deny:\n    - bash\n    - 'bash(rm *'\n---\np\n", `x.md:7: permissions.deny[1]: expects tool(pattern)`},
		{"a rule without a name", start + "permissions:\n  deny: [{pattern: x}]\n---\np\n", `x.md:5: permissions.deny[0]: expects a permission`},
		{"a field of a rule", start + "permissions:\n  deny: [{tool: x}]\n---\np\n", `x.md:5: permissions.deny[0].tool: unknown field`},
		{"rules that are no list", start + "permissions:\n  deny: bash\n---\np\n", `x.md:5: permissions.deny: expects a list of rules`},
		{"tools that are no names", start + "tools: [[read]]\n---\np\n", `x.md:4: tools[0]: expects a text`},
		{"cycles", start + "limits:\n  cycles: many\n---\np\n", `x.md:5: limits.cycles: expects a whole number from 0 to 100000`},
		{"fewer than none", start + "limits:\n  calls: -1\n---\np\n", `x.md:5: limits.calls: expects a whole number`},
		{"temperature", start + "limits: {temperature: 3}\n---\np\n", `x.md:4: limits.temperature: expects a number from 0 to 2`},
		{"no number", start + "limits: {cost: .nan}\n---\np\n", `x.md:4: limits.cost: expects a number`},
		{"time", start + "limits:\n  cycles: 1\n  time: 90\n---\np\n", `x.md:6: limits.time: expects a time with a unit`},
		{"an unknown limit", start + "limits:\n  steps: 1\n---\np\n", `x.md:5: limits.steps: unknown limit; known here: calls, fan_out`},
		{"limits that are no fields", start + "limits: 5\n---\np\n", `x.md:4: limits: expects fields`},
		{"inspectable", start + "inspectable: 'yes'\n---\np\n", `x.md:4: inspectable: expects true or false`},
		{"caller", start + "caller: person\n---\np\n", `x.md:4: caller: expects "agent"`},
		{"requirements of no kind", start + "requires:\n  fs:\n    exec: [a]\n---\np\n", `x.md:6: requires.fs.exec: unknown field; known here: read, write`},
		{"requirements of another form", start + "requires:\n  fs: {read: a}\n---\np\n", `x.md:4: requires: `},
		{"too many values", start + "tools: [" + strings.Repeat("a,", 2500) + "]\n---\np\n", `x.md:4: its front matter holds more than 2000 values`},
		{"too long", "---\nname: " + strings.Repeat("n", 70_000) + "\n---\np\n", `x.md:1: its front matter is larger than 65536 bytes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := subagent.ParseManifest("x.md", []byte(tt.text))
			if p, ok := errors.AsType[*subagent.Problem](err); !ok || p.Warning || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("---\nname: n\ndescription: d\n---\np\n"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Add([]byte(whole))
	f.Add([]byte("---\nname: n\ndescription: a: b\ntools: Bash(git:*), mcp__x\ndisallowedTools: Write\nmodel: opus\n---\np\n"))
	f.Add([]byte("---\nname: n\ndescription: d\ntools: {write: false}\nrequires: {shell: [{cmd: go, args: [{prefix: t}]}]}\n---\np\n"))
	known := func(tool string) bool { return tool == "bash" || tool == "read" }
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := subagent.ParseManifest("x.md", text)
		if err != nil {
			p, ok := errors.AsType[*subagent.Problem](err)
			if !ok || p.Line < 1 || p.Line > 1+strings.Count(string(text), "\n")+strings.Count(string(text), "\r") {
				t.Errorf("the error %v has no line of the file", err)
			}
			return
		}
		if m.Name == "" || m.Description == "" || m.Prompt == "" || m.Mode == "" || m.Level == "" {
			t.Errorf("%+v was accepted", m)
		}
		for _, rule := range m.Rules {
			if permissions.CheckPermission(rule.Permission) != nil {
				t.Errorf("the rule %+v was accepted", rule)
			}
		}
		for _, p := range append(m.Problems, subagent.Check(m, known, capability.NoDirectories())...) {
			if p.Line < 1 || strings.Contains(p.String(), "\n") {
				t.Errorf("the problem %q has no line", p)
			}
		}
	})
}
