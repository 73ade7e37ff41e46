package subagent_test

import (
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/subagent"
	"acp-agent/tools/builtin"
)

func known(tool string) bool {
	return builtin.Known(tool) || strings.HasPrefix(tool, "mcp__") || strings.HasPrefix(tool, "mcp:")
}

// R111: Check finds requests that cannot be granted, with file and line.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		want       []string
	}{
		{"nothing", "", nil},
		{"an unknown tool is a warning", "tools:\n  - read\n  - NotebookEdit\n", []string{`x.md:6: warning: tools: there is no tool "NotebookEdit" here`}},
		{"a tool of a server", "tools: [mcp__git__log]\n", nil},
		{"a rule for an unknown tool", "permissions:\n  deny:\n    - bash\n    - rm\n", []string{`x.md:7: deny rm: there is no tool "rm"`}},
		{"an allow for a tool that it lacks", "tools: [read]\npermissions:\n  allow: [\"bash(go test *)\"]\n", []string{"x.md:6: allow bash(go test *): the agent has no such tool"}},
		{"an allow for a capability that it lacks", "tools: [read]\npermissions: {allow: [fs.write]}\n", []string{"x.md:5: allow fs.write: the agent has no such tool"}},
		{"an allow for a capability of its tool", "tools: [edit]\npermissions: {allow: [fs.write, fs.read]}\n", nil},
		{"a deny for a tool that it lacks", "tools: [read]\npermissions: {deny: [bash]}\n", nil},
		{"any tool when none are listed", "permissions: {allow: [\"bash(go test *)\"]}\n", nil},
		{"an allow that its deny takes back", "permissions:\n  allow: [\"bash(git log)\"]\n  deny: [\"bash(git *)\"]\n", []string{"x.md:5: allow bash(git log): can have no effect, for the agent's own deny bash(git *) takes it back"}},
		{"an allow that a deny of all takes back", "permissions: {allow: [\"edit(a/**)\"], deny: ['*']}\n", []string{"x.md:4: allow edit(a/**): can have no effect"}},
		{"an allow that a deny of its capability takes back", "permissions: {allow: [\"edit(a/b)\"], deny: [\"fs.write(a/**)\"]}\n", []string{"x.md:4: allow edit(a/b): can have no effect"}},
		{"an allow wider than its deny", "permissions: {allow: [\"bash(git *)\"], deny: [\"bash(git push *)\"]}\n", nil},
		{"an allow deeper than a star", "permissions: {allow: [\"edit(a/b/c)\"], deny: [\"edit(a/*)\"]}\n", nil},
		{"a variable of a rule", "permissions: {deny: [\"read({workspce}/**)\"]}\n", []string{`x.md:4: deny read({workspce}/**): pattern "{workspce}/**": undefined variable {workspce}`}},
		{"a variable of a host", "permissions: {ask: [\"web_fetch({hosts})\"]}\n", []string{"undefined variable {hosts}"}},
		{"variables of rules", "permissions: {deny: [\"edit({scratch}/**)\", \"web_fetch({granted-hosts})\", \"read({ad-hoc}/**)\"]}\n", nil},
		{"braces in a command", "permissions: {deny: [\"bash(echo {a})\"]}\n", nil},
		{"a path that climbs", "permissions: {deny: [\"read(../x)\"]}\n", []string{`must not climb`}},
		{"a variable of requirements", "requires:\n  fs:\n    read:\n      - src\n      - '{workspce}'\n", []string{`x.md:8: requires.fs.read: pattern "{workspce}": undefined variable {workspce}`}},
		{"a variable that only rules know", "requires: {fs: {read: ['{scratch}']}}\n", []string{"undefined variable {scratch}"}},
		{"reading beyond the host's ceiling", "requires: {fs: {read: ['{workspace}/a/**', '{ad-hoc}', docs, /etc]}}\n", []string{`x.md:4: requires.fs.read: "/etc" is more than this host grants to any agent, which is {workspace} and {ad-hoc}`}},
		{"writing beyond the host's ceiling", "requires: {fs: {write: ['{workspace}/a', '{ad-hoc}']}}\n", []string{`x.md:4: requires.fs.write: "{ad-hoc}" is more than this host grants`}},
		{"the host's own data", "requires: {fs: {read: ['{user-data}/x']}}\n", []string{`"{user-data}/x" is more than this host grants`}},
		{"a capability beyond the ceiling", "requires:\n  capabilities: [shell.run,\n    root]\n", []string{`x.md:6: requires.capabilities: "root" is more than this host grants to any agent, which is shell.run`}},
		{"the network for a restricted agent", "requires:\n  net:\n    hosts: [go.dev]\n", []string{"x.md:6: requires.net.hosts: a restricted agent has no network"}},
		{"the network for another", "permissions: inherit\nrequires: {net: {hosts: [go.dev]}}\n", nil},
		{"a rule that opens the network for a restricted agent", "permissions: {level: restricted, allow: [net.fetch]}\n", []string{"x.md:4: allow net.fetch: a restricted agent has no network"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := subagent.ParseManifest("x.md", []byte("---\nname: n\ndescription: d\n"+tt.head+"---\np\n"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range subagent.Check(m, known, capability.NoDirectories()) {
				text := p.String()
				if p.Warning {
					text = strings.Replace(text, ": ", ": warning: ", 1)
				}
				got = append(got, text)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("problems %q, want %q", got, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) || !strings.HasPrefix(got[i], "x.md:") {
					t.Errorf("problem %q, want %q", got[i], want)
				}
			}
		})
	}
}
